package io.troupe.node.faults;

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
 * Writes down every event while a cluster works, so that it is known after its compaction. What is
 * not written down yet must not be compacted.
 */
final class HistoryRecorder implements AutoCloseable {
  private final ClusterHistory streams = new ClusterHistory();
  private final HistoryWatcher watcher;

  /**
   * Begins.
   *
   * @param members whom it listens to, one after the other
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

  /** Last revision that is written down. */
  long told() {
    return watcher.next() - 1;
  }

  /** What it did not expect. */
  List<String> complaints() {
    return watcher.complaints();
  }

  /** Events by revision; only after it was closed. */
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
