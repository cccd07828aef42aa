package io.troupe.grpc.service;

import io.troupe.metrics.WalSyncs;
import io.troupe.protocol.ProposeReply;

/**
 * Tells a call's trace where the time of its proposal went, from what was measured in flight.
 *
 * <ul>
 *   <li>{@code queue}: until the raft actor took it, waiting for a leader included
 *   <li>{@code propose}: until this member began to force the record that holds it
 *   <li>{@code fsync}: until it was on this member's disk
 *   <li>{@code quorum}: from when the raft actor took it until that room knew it durable on a
 *       quorum; beside the two before
 *   <li>{@code apply}: in the state, behind what was committed before it
 *   <li>{@code answer}: the batch of entries written, and the answer back here
 * </ul>
 */
public final class WriteSteps {
  private WriteSteps() {}

  /**
   * Tells all that is known.
   *
   * @param startNanos when it began
   * @param endNanos when its answer was here
   * @param syncs of this member's log
   */
  static void tell(
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
   * Tells what lies between the raft actor's taking a proposal and a quorum that has it.
   *
   * @param index of its entry
   * @param syncs of this member's log
   */
  public static void replicated(
      CallTrace call, long index, long takenNanos, long committedNanos, WalSyncs syncs) {
    WalSyncs.Sync sync = syncs.find(index);
    // An older one at that index was of an entry that another leader's took the place of.
    if (sync != null && sync.startNanos() - takenNanos >= 0) {
      call.step("propose", takenNanos, sync.startNanos());
      call.step("fsync", sync.startNanos(), sync.endNanos());
    }
    call.step("quorum", takenNanos, committedNanos);
  }
}
