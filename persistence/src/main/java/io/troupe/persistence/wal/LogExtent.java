package io.troupe.persistence.wal;

import java.util.List;

/**
 * Which entries take how much of the disk, segment by segment: a log shrinks by whole segments.
 * Immutable.
 *
 * @param sealed segments before the open one, oldest first
 * @param openBytes bytes of the open segment on disk
 */
public record LogExtent(List<Segment> sealed, long openBytes) {
  /** Copies the list; that costs nothing for one that is immutable already. */
  public LogExtent {
    sealed = List.copyOf(sealed);
  }

  /**
   * One segment.
   *
   * @param maxIndex greatest index of its entries, 0 if it has none
   * @param bytes on disk
   */
  public record Segment(long maxIndex, long bytes) {}

  /** Bytes of the segments that are needed for the entries above {@code index}; the open one is. */
  public long bytesAfter(long index) {
    long bytes = openBytes;
    for (Segment segment : sealed.subList(firstAfter(index), sealed.size())) {
      bytes += segment.bytes();
    }
    return bytes;
  }

  /** Number of the segments of {@link #bytesAfter}. */
  public int segmentsAfter(long index) {
    return sealed.size() - firstAfter(index) + 1;
  }

  /**
   * The lowest index without which the log takes at most so many bytes: its entry and all before it
   * would have to go.
   *
   * @return 0 if all fits; the open segment stays, however large it is
   */
  public long lastIndexOutside(long maxBytes) {
    long bytes = openBytes;
    int kept = sealed.size();
    while (kept > 0 && bytes + sealed.get(kept - 1).bytes() <= maxBytes) {
      bytes += sealed.get(kept - 1).bytes();
      kept--;
    }
    long index = 0;
    for (Segment segment : sealed.subList(0, kept)) {
      index = Math.max(index, segment.maxIndex());
    }
    return index;
  }

  private int firstAfter(long index) {
    int first = 0;
    while (first < sealed.size() && sealed.get(first).maxIndex() <= index) {
      first++;
    }
    return first;
  }
}
