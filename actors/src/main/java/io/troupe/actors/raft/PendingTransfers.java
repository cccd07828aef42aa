package io.troupe.actors.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.TransferReply;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * Who waits for the leadership to go elsewhere. Each is told once. Not thread-safe: part of the
 * raft actor.
 */
final class PendingTransfers {
  /** {@code to} is NONE for whoever only wants this member to cease. */
  private record PendingTransfer(NodeId to, ActorRef<TransferReply> replyTo) {}

  private final List<PendingTransfer> waiting = new ArrayList<>();

  /** Waits for another leader. */
  void add(NodeId to, ActorRef<TransferReply> replyTo) {
    waiting.add(new PendingTransfer(to, replyTo));
  }

  /** Waits for any other leader, or for none. */
  void addForAny(ActorRef<TransferReply> replyTo) {
    add(NodeId.NONE, replyTo);
  }

  /** A transfer to that member does not take place. */
  void refused(NodeId to, Refusal reason) {
    tell(one -> one.to().equals(to) || one.to().isNone(), new TransferReply.Refused(reason));
  }

  /** None of them takes place. */
  void refuseAll(Refusal reason) {
    tell(one -> true, new TransferReply.Refused(reason));
  }

  /**
   * The role changed.
   *
   * @param leads whether this member leads now
   * @param leader of now; NONE if none is known
   */
  void roleChanged(boolean leads, NodeId leader) {
    tell(one -> one.to().isNone() ? !leads : one.to().equals(leader), TransferReply.Done.INSTANCE);
    if (!leads && !leader.isNone()) {
      refuseAll(Refusal.LEADER_CHANGED);
    }
  }

  private void tell(Predicate<PendingTransfer> whom, TransferReply reply) {
    waiting.removeIf(
        one -> {
          boolean told = whom.test(one);
          if (told) {
            one.replyTo().tell(reply);
          }
          return told;
        });
  }
}
