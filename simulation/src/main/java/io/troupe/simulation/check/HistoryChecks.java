package io.troupe.simulation.check;

import io.troupe.model.Operation;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.History;
import io.troupe.simulation.history.Request;
import io.troupe.simulation.history.WatchRecord;
import java.util.List;

/** All checks of a recorded history. */
public final class HistoryChecks {
  private HistoryChecks() {}

  /**
   * Checks everything.
   *
   * @return whether the search for an order of the calls finished
   * @throws Violation naming the violated rule
   */
  public static LinearizabilityCheck.Verdict check(History history) {
    CommittedCheck.check(history.committed());
    SerializableCheck.check(history.calls());
    CompactionCheck.check(history.calls());
    LeaseCheck.check(history.calls(), history.leaseEnds());
    WatchCheck watches = new WatchCheck(history.committed(), maxCompaction(history.calls()));
    for (WatchRecord watch : history.watches()) {
      watches.check(watch);
    }
    return LinearizabilityCheck.check(history.calls(), history.committed());
  }

  /** Highest revision of which a client requested the compaction; 0 without one. */
  public static long maxCompaction(List<Call> calls) {
    long max = 0;
    for (Call call : calls) {
      if (call.request() instanceof Request.Write write
          && write.operation() instanceof Operation.Compact compact) {
        max = Math.max(max, compact.revision());
      }
    }
    return max;
  }
}
