package io.troupe.tests.faults;

import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.simulation.history.WatchRecord;
import io.troupe.simulation.history.WatchReply;
import io.troupe.watch.EventFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Records each event while a cluster runs, so that it is known after its compaction. Events that
 * are not recorded yet must not be compacted.
 */
final class HistoryRecorder implements AutoCloseable {
  private final ClusterHistory streams = new ClusterHistory();
  private final HistoryWatcher watcher;

  /**
   * Starts recording.
   *
   * @param members the watched members, one after the other
   * @param from first revision
   */
  HistoryRecorder(
      TestCluster cluster,
      Set<Integer> members,
      long from,
      SplittableRandom random,
      ScheduledExecutorService timer) {
    WatchRecord.Asked all =
        new WatchRecord.Asked(KeyRange.all(), from, EventFilter.NONE, true, false, false);
    this.watcher = new HistoryWatcher(cluster, streams, members, all, random, timer);
  }

  /** Last recorded revision. */
  long told() {
    return watcher.next() - 1;
  }

  /** Results that it did not expect. */
  List<String> complaints() {
    return watcher.complaints();
  }

  /** Events by revision; call it after close. */
  SortedMap<Long, List<Event>> events() {
    SortedMap<Long, List<Event>> events = new TreeMap<>();
    for (WatchRecord record : streams.watches()) {
      if (record.isCanceled()) {
        throw new AssertionError("compacted before it was written down: " + record.asked());
      }
      for (WatchReply reply : record.replies()) {
        if (reply instanceof WatchReply.Events some) {
          for (Event event : some.events()) {
            events.computeIfAbsent(event.kv().modRevision(), r -> new ArrayList<>()).add(event);
          }
        }
      }
    }
    return events;
  }

  @Override
  public void close() {
    watcher.close();
  }
}
