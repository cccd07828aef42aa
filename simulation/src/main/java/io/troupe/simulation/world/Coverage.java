package io.troupe.simulation.world;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** How often things really happened: a run in which nothing goes wrong shows nothing. */
public final class Coverage {
  private final SortedMap<String, Long> counts = new TreeMap<>();

  /** It happened once more. */
  public void count(String what) {
    count(what, 1);
  }

  /** It happened so many times more. */
  public void count(String what, long times) {
    counts.merge(what, times, Long::sum);
  }

  /** Adds the counts of another run. */
  public void add(Coverage other) {
    for (Map.Entry<String, Long> each : other.counts.entrySet()) {
      count(each.getKey(), each.getValue());
    }
  }

  /** How often it happened. */
  public long of(String what) {
    return counts.getOrDefault(what, 0L);
  }

  /** All counts, by name. */
  public SortedMap<String, Long> all() {
    return Collections.unmodifiableSortedMap(counts);
  }
}
