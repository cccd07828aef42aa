package io.troupe.snapshot;

import java.util.List;

/**
 * Disk space of the log's entries by segment: a log shrinks by whole segments. Immutable.
 *
 * @param sealed segments before the open one, oldest first
 * @param openBytes size of the open segment on disk
 */
public record LogExtent(List<Segment> sealed, long openBytes) {
  /** Copies the list, unless it is already immutable. */
  public LogExtent {
    sealed = List.copyOf(sealed);
  }

  /**
   * One segment.
   *
   * @param maxIndex greatest index of its entries, 0 if it has none
   * @param bytes size on disk
   */
  public record Segment(long maxIndex, long bytes) {}

  /**
   * Size of the segments that are needed for the entries above {@code index}, including the open
   * one.
   */
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
   * The lowest index without which the log has at most the given size: this entry and all before it
   * would have to be removed.
   *
   * @return 0 if everything fits; the open segment stays, however large it is
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
