package io.troupe.auth;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A set of keys as the fewest intervals: intervals that overlap or touch are merged (A12).
 * Immutable.
 */
final class KeyUnion {
  /** Keys from {@code from} on, below {@code to}; null: without an end. */
  private record Interval(Bytes from, @Nullable Bytes to) {}

  private final List<Interval> intervals;

  private KeyUnion(List<Interval> intervals) {
    this.intervals = intervals;
  }

  /** The union of the ranges. */
  static KeyUnion of(List<KeyRange> ranges) {
    List<KeyRange> sorted = new ArrayList<>(ranges);
    sorted.removeIf(KeyRange::isEmpty);
    sorted.sort(Comparator.comparing(KeyRange::key));
    List<Interval> merged = new ArrayList<>();
    for (KeyRange range : sorted) {
      Interval next = new Interval(range.key(), range.toExclusive());
      Interval last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last == null || !reaches(last, next.from())) {
        merged.add(next);
      } else {
        merged.set(merged.size() - 1, new Interval(last.from(), later(last.to(), next.to())));
      }
    }
    return new KeyUnion(List.copyOf(merged));
  }

  private static boolean reaches(Interval interval, Bytes key) {
    Bytes to = interval.to();
    return to == null || to.compareTo(key) >= 0;
  }

  private static @Nullable Bytes later(@Nullable Bytes a, @Nullable Bytes b) {
    if (a == null || b == null) {
      return null;
    }
    return a.compareTo(b) >= 0 ? a : b;
  }

  /**
   * True if every key of the range is in the set. For a range that can contain no key (K3), its
   * first key must be in the set, so that an empty range is not allowed by default.
   */
  boolean contains(KeyRange range) {
    Interval around = at(range.key());
    if (around == null) {
      return false;
    }
    Bytes end = around.to();
    if (end == null) {
      return true;
    }
    if (range.isSingle() || range.isEmpty()) {
      return range.key().compareTo(end) < 0;
    }
    Bytes to = range.toExclusive();
    return to != null && range.key().compareTo(end) < 0 && to.compareTo(end) <= 0;
  }

  /** The last interval that starts at or before the key. */
  private @Nullable Interval at(Bytes key) {
    int low = 0;
    int high = intervals.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (intervals.get(middle).from().compareTo(key) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low == 0 ? null : intervals.get(low - 1);
  }
}
