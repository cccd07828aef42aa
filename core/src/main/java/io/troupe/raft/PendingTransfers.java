package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Callers that wait for a transfer of leadership. Each gets one reply. One thread.
 *
 * @param <T> identifies a caller
 */
final class PendingTransfers<T> {
  /** {@code to} is NONE if the caller only wants this member to stop leading. */
  private record Pending<T>(NodeId to, T caller) {}

  private final RaftLoopEffects<?, ?, T> effects;
  private final List<Pending<T>> waiting = new ArrayList<>();

  PendingTransfers(RaftLoopEffects<?, ?, T> effects) {
    this.effects = effects;
  }

  /** Adds a caller that waits for {@code to} to lead. */
  void add(NodeId to, T caller) {
    waiting.add(new Pending<>(to, caller));
  }

  /** Adds a caller that waits until this member does not lead. */
  void addForAny(T caller) {
    add(NodeId.NONE, caller);
  }

  /** Refuses the transfers to {@code to}. */
  void refused(NodeId to, Refusal reason) {
    reply(one -> one.to().equals(to) || one.to().isNone(), reason);
  }

  /** Refuses all transfers. */
  void refuseAll(Refusal reason) {
    reply(one -> true, reason);
  }

  /**
   * The role changed.
   *
   * @param leads whether this member leads now
   * @param leader the current leader; NONE if none is known
   */
  void roleChanged(boolean leads, NodeId leader) {
    reply(one -> one.to().isNone() ? !leads : one.to().equals(leader), null);
    if (!leads && !leader.isNone()) {
      refuseAll(Refusal.LEADER_CHANGED);
    }
  }

  /** Without a refusal the transfer is done. */
  private void reply(Predicate<Pending<T>> whom, @Nullable Refusal refusal) {
    waiting.removeIf(
        one -> {
          if (!whom.test(one)) {
            return false;
          }
          if (refusal == null) {
            effects.transferDone(one.caller());
          } else {
            effects.transferFailed(one.caller(), refusal);
          }
          return true;
        });
  }
}
