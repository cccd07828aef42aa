package io.troupe.actors.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.TransferReply;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * Callers that wait for a transfer of leadership. Each gets one reply. Not thread-safe: part of the
 * raft actor.
 */
final class PendingTransfers {
  /** {@code to} is NONE if the caller only wants this member to stop leading. */
  private record PendingTransfer(NodeId to, ActorRef<TransferReply> replyTo) {}

  private final List<PendingTransfer> waiting = new ArrayList<>();

  /** Adds a caller that waits for {@code to} to lead. */
  void add(NodeId to, ActorRef<TransferReply> replyTo) {
    waiting.add(new PendingTransfer(to, replyTo));
  }

  /** Adds a caller that waits until this member does not lead. */
  void addForAny(ActorRef<TransferReply> replyTo) {
    add(NodeId.NONE, replyTo);
  }

  /** Refuses the transfers to {@code to}. */
  void refused(NodeId to, Refusal reason) {
    sendReply(one -> one.to().equals(to) || one.to().isNone(), new TransferReply.Refused(reason));
  }

  /** Refuses all transfers. */
  void refuseAll(Refusal reason) {
    sendReply(one -> true, new TransferReply.Refused(reason));
  }

  /**
   * The role changed.
   *
   * @param leads whether this member leads now
   * @param leader the current leader; NONE if none is known
   */
  void roleChanged(boolean leads, NodeId leader) {
    sendReply(
        one -> one.to().isNone() ? !leads : one.to().equals(leader), TransferReply.Done.INSTANCE);
    if (!leads && !leader.isNone()) {
      refuseAll(Refusal.LEADER_CHANGED);
    }
  }

  private void sendReply(Predicate<PendingTransfer> whom, TransferReply reply) {
    waiting.removeIf(
        one -> {
          boolean matches = whom.test(one);
          if (matches) {
            one.replyTo().tell(reply);
          }
          return matches;
        });
  }
}
