package io.troupe.node.process;

import java.util.ArrayList;
import java.util.List;

/**
 * How far a member is at one moment. Two readings show what did not move between them.
 *
 * @param pendingWrite number of the operation of the log that the disk has not completed; 0 if none
 *     is pending
 * @param committed highest index that is known to be committed
 * @param applied the applied index
 * @param ticks ticks that the raft actor has handled
 * @param installing true while another member's snapshot replaces the state: the actors are stopped
 */
public record MemberProgress(
    long pendingWrite, long committed, long applied, long ticks, boolean installing) {

  /**
   * Returns what makes no progress, as texts for a log line; empty if all parts do, or have nothing
   * to do.
   *
   * @param before an earlier reading; the time between must be much longer than a tick
   */
  public List<String> stuckSince(MemberProgress before) {
    List<String> stuck = new ArrayList<>();
    if (pendingWrite != 0 && pendingWrite == before.pendingWrite) {
      stuck.add("the disk does not complete a write of the log");
    }
    if (installing || before.installing) {
      return stuck;
    }
    if (before.committed > before.applied && applied == before.applied) {
      stuck.add("committed entries are not applied");
    }
    if (ticks == before.ticks) {
      stuck.add("the raft actor does not run");
    }
    return stuck;
  }
}
