package io.troupe.simulation.world;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Counts events. A run without faults proves nothing. */
public final class Coverage {
  private final SortedMap<String, Long> counts = new TreeMap<>();

  /** Counts one event. */
  public void count(String what) {
    count(what, 1);
  }

  /** Counts {@code times} events. */
  public void count(String what, long times) {
    counts.merge(what, times, Long::sum);
  }

  /** Adds the counts of another run. */
  public void add(Coverage other) {
    for (Map.Entry<String, Long> each : other.counts.entrySet()) {
      count(each.getKey(), each.getValue());
    }
  }

  /** Returns the count of an event. */
  public long of(String what) {
    return counts.getOrDefault(what, 0L);
  }

  /** All counts, by name. */
  public SortedMap<String, Long> all() {
    return Collections.unmodifiableSortedMap(counts);
  }
}
