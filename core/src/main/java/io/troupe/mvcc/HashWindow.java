package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A sequence of changes in the order of revisions, and for each the checksum of its record when it
 * is known. Takes {@link #CHANGE_BYTES} for each change, whatever the sizes of keys and values.
 */
final class HashWindow {
  /** Memory of one change. */
  static final int CHANGE_BYTES = 4 * Integer.BYTES;

  private static final int FIRST_CAPACITY = 1024;

  private final int most;

  /** Main revisions, relative to the first one. */
  private int[] mains = new int[0];

  private int[] subs = new int[0];
  private int[] sums = new int[0];

  /** Size of a record in bytes, 0 while it is not known; no record has the size 0. */
  private int[] lengths = new int[0];

  private int size;
  private long first;
  private @Nullable Bytes leastKey;
  private @Nullable Bytes greatestKey;

  /**
   * Creates an empty window.
   *
   * @param most maximum number of changes, 1 or more
   */
  HashWindow(int most) {
    this.most = most;
  }

  void clear() {
    size = 0;
    leastKey = null;
    greatestKey = null;
  }

  int size() {
    return size;
  }

  /** True if the next change, of this revision, fits into the window. */
  boolean hasPlaceFor(long main) {
    return size == 0 || (size < most && main - first <= Integer.MAX_VALUE);
  }

  /** Adds the next change, which must fit; its record is not known yet. */
  void add(long main, int sub) {
    if (size == mains.length) {
      grow();
    }
    if (size == 0) {
      first = main;
    }
    mains[size] = (int) (main - first);
    subs[size] = sub;
    lengths[size] = 0;
    size++;
  }

  private void grow() {
    int capacity = Math.min(most, Math.max(FIRST_CAPACITY, 2 * size));
    mains = Arrays.copyOf(mains, capacity);
    subs = Arrays.copyOf(subs, capacity);
    sums = Arrays.copyOf(sums, capacity);
    lengths = Arrays.copyOf(lengths, capacity);
  }

  /**
   * Records that the record of the last change is among the versions of this key.
   *
   * @param key may change after this call
   */
  void expect(Bytes key) {
    Bytes least = leastKey;
    if (least == null || key.compareTo(least) < 0) {
      leastKey = Bytes.wrap(key.toArray());
    }
    Bytes greatest = greatestKey;
    if (greatest == null || key.compareTo(greatest) > 0) {
      greatestKey = Bytes.wrap(key.toArray());
    }
  }

  /** The smallest expected key, or null if there is none. */
  @Nullable Bytes leastKey() {
    return leastKey;
  }

  @Nullable Bytes greatestKey() {
    return greatestKey;
  }

  /** Revision of the first change; the window must not be empty. */
  long firstRevision() {
    return first;
  }

  /** Revision of the last change; the window must not be empty. */
  long lastRevision() {
    return revision(size - 1);
  }

  long revision(int place) {
    return first + mains[place];
  }

  int sub(int place) {
    return subs[place];
  }

  /** Position of the change whose record is not known yet, or -1. */
  int findUnknown(long main, int sub) {
    int low = 0;
    int high = size - 1;
    long wanted = main - first;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = Long.compare(mains[middle], wanted);
      if (order == 0) {
        order = Integer.compare(subs[middle], sub);
      }
      if (order == 0) {
        return lengths[middle] == 0 ? middle : -1;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1;
  }

  /**
   * Records the checksum of the record of a change.
   *
   * @param sum its CRC-32C
   * @param length its size in bytes, 1 or more
   */
  void set(int place, int sum, int length) {
    sums[place] = sum;
    lengths[place] = length;
  }

  boolean isKnown(int place) {
    return lengths[place] != 0;
  }

  /** Joins the checksum of everything before with the one at this position, which must be known. */
  int join(int before, int place) {
    return Crc32cJoin.join(before, sums[place], lengths[place]);
  }
}
