package io.troupe.server;

import io.troupe.metrics.WalSyncs;
import io.troupe.protocol.ProposeReply;

/**
 * Records the steps of a proposal in the trace of its call, from times that are measured anyway.
 *
 * <ul>
 *   <li>{@code queue}: until the raft actor received it, including a wait for a leader
 *   <li>{@code propose}: until this member started the fsync of its record
 *   <li>{@code fsync}: until it was on this member's disk
 *   <li>{@code quorum}: from the raft actor's receipt until the actor knew that it was durable on a
 *       quorum; overlaps the two before
 *   <li>{@code apply}: in the state, after the entries that were committed before it
 *   <li>{@code answer}: the batch of entries is written, and the result is back here
 * </ul>
 */
public final class WriteSteps {
  private WriteSteps() {}

  /**
   * Records all steps with known times.
   *
   * @param startNanos when it started
   * @param endNanos when its result arrived here
   * @param syncs of this member's log
   */
  static void trace(
      CallTrace call, long startNanos, long endNanos, ProposeReply.Applied reply, WalSyncs syncs) {
    long proposedNanos = reply.proposedNanos();
    if (proposedNanos == 0) {
      return;
    }
    call.step("queue", startNanos, proposedNanos);
    replicated(call, reply.index(), proposedNanos, reply.committedNanos(), syncs);
    call.step("apply", reply.committedNanos(), reply.appliedNanos());
    call.step("answer", reply.appliedNanos(), endNanos);
  }

  /**
   * Records the steps between the raft actor's receipt of a proposal and its durability on a
   * quorum.
   *
   * @param index of its entry
   * @param syncs of this member's log
   */
  public static void replicated(
      CallTrace call, long index, long takenNanos, long committedNanos, WalSyncs syncs) {
    WalSyncs.Sync sync = syncs.find(index);
    // An older sync of this index belongs to an entry that another leader's entry replaced.
    if (sync != null && sync.startNanos() - takenNanos >= 0) {
      call.step("propose", takenNanos, sync.startNanos());
      call.step("fsync", sync.startNanos(), sync.endNanos());
    }
    call.step("quorum", takenNanos, committedNanos);
  }
}
