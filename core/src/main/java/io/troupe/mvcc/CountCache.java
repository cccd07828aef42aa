package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Caches the number of keys between a start and a range end at a revision, so that reading a range
 * in pages costs one count. Such a number never changes while its revision is readable. Bounded;
 * thread-safe.
 */
final class CountCache {
  private static final int MAX_GROUPS = 64;
  private static final int MAX_SPANS = 64;

  /** Longest keys of an entry together: all entries then need some 6 MB. */
  private static final int MAX_KEY_BYTES = 1536;

  private record Group(Bytes rangeEnd, long revision) {}

  /** Every start from the key of the span up to {@code lastStart} has this count. */
  private record Span(Bytes lastStart, long count) {}

  private final Map<Group, NavigableMap<Bytes, Span>> groups =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Group, NavigableMap<Bytes, Span>> eldest) {
          return size() > MAX_GROUPS;
        }
      };

  /** Number of keys from {@code start} to {@code rangeEnd}, or -1 if it is unknown. */
  synchronized long find(Bytes start, Bytes rangeEnd, long revision) {
    NavigableMap<Bytes, Span> spans = groups.get(new Group(rangeEnd, revision));
    Map.Entry<Bytes, Span> at = spans == null ? null : spans.floorEntry(start);
    return at == null || start.compareTo(at.getValue().lastStart()) > 0
        ? -1
        : at.getValue().count();
  }

  /**
   * Records that every start from {@code firstStart} to {@code lastStart} has this count, unless
   * the keys are very long.
   */
  synchronized void note(
      Bytes firstStart, Bytes lastStart, Bytes rangeEnd, long revision, long count) {
    if (firstStart.length() + lastStart.length() + rangeEnd.length() > MAX_KEY_BYTES) {
      return;
    }
    NavigableMap<Bytes, Span> spans =
        groups.computeIfAbsent(new Group(rangeEnd, revision), group -> new TreeMap<>());
    spans.put(firstStart, new Span(lastStart, count));
    if (spans.size() > MAX_SPANS) {
      // Pages move upwards, so low starts are not requested again, except for the lowest: the whole
      // range.
      spans.remove(spans.higherKey(spans.firstKey()));
    }
  }
}
