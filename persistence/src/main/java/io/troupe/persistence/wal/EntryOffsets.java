package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Approximate positions of the log's entries in the segments: at intervals of bytes, an anchor
 * records that the entries from an index on start at a position.
 *
 * <p>Anchors grow in both index and position. A batch that replaces entries gets an anchor of its
 * own, and the anchors at or above its first index are removed. So the valid copy of the entries
 * between two anchors is between their positions, and no replaced copy is read before the end of
 * that stretch.
 */
final class EntryOffsets {
  private static final long SPACING_BYTES = 256 << 10;

  private record Place(SegmentName segment, long position) {}

  private final TreeMap<Long, Place> anchors = new TreeMap<>();
  private long lastIndex;

  /**
   * Entries between two positions.
   *
   * @param position in the segment's data file, at or before the first record
   * @param from first index, inclusive
   * @param until index after the last one
   */
  record Stretch(SegmentName segment, long position, long from, long until) {}

  /** A record with entries was written; its header is at or after {@code position}. */
  void wrote(List<Entry> entries, SegmentName segment, long position) {
    long first = entries.get(0).index();
    boolean replaces = first <= lastIndex;
    if (replaces) {
      anchors.tailMap(first, true).clear();
    }
    lastIndex = entries.get(entries.size() - 1).index();
    Map.Entry<Long, Place> newest = anchors.lastEntry();
    if (newest == null
        || replaces
        || !newest.getValue().segment().equals(segment)
        || position - newest.getValue().position() >= SPACING_BYTES) {
      anchors.put(first, new Place(segment, position));
    }
  }

  /** All entries were removed; the next one is {@code index + 1}. */
  void restartAfter(long index) {
    anchors.clear();
    lastIndex = index;
  }

  /** Segments below that number were removed. */
  void dropSegmentsBelow(long number) {
    Iterator<Place> oldest = anchors.values().iterator();
    while (oldest.hasNext() && oldest.next().segment().number() < number) {
      oldest.remove();
    }
  }

  /**
   * Returns the stretches that contain entries, in order; empty if the first entry is removed or
   * never existed.
   *
   * @param from first index, inclusive
   * @param until index after the last one
   */
  List<Stretch> find(long from, long until) {
    long end = Math.min(until, lastIndex + 1);
    Map.Entry<Long, Place> at = anchors.floorEntry(from);
    List<Stretch> stretches = new ArrayList<>();
    long next = from;
    while (at != null && next < end) {
      Map.Entry<Long, Place> following = anchors.higherEntry(at.getKey());
      long to = following == null ? end : Math.min(end, following.getKey());
      stretches.add(new Stretch(at.getValue().segment(), at.getValue().position(), next, to));
      next = to;
      at = following;
    }
    return List.copyOf(stretches);
  }
}
