package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Records of one stripe of {@link RecordCache}, encoded one after the other in one array. New
 * records are appended; when the array is full, the oldest are evicted, except that one that was
 * used since it was appended is appended again once. Not thread-safe.
 *
 * <p>Why not a map of objects: each record would live until the next put of its key, for too long
 * to be collected as a young object. So every put would add one object to the old generation, and
 * with many puts per second its collections would stop the member again and again.
 *
 * <p>Layout of a record: {@link #HEADER} bytes of fixed fields, key, value. Positions in the index
 * are those of records.
 */
final class RecordRing {
  /** Bytes of a record in addition to key and value. */
  static final int HEADER = 49;

  private static final int SIZE = 0;
  private static final int HASH = 4;
  private static final int KEY_LENGTH = 8;
  private static final int SUB = 12;
  private static final int CREATE = 16;
  private static final int MOD = 24;
  private static final int VERSION = 32;
  private static final int LEASE = 40;
  private static final int USED = 48;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final int FIRST_BYTES = 1 << 12;
  private static final int FIRST_SLOTS = 16;

  /** Records that one append moves at most. */
  private static final int MOST_MOVES = 16;

  /**
   * Slots that a search checks. A client that chooses keys of equal hashes fills no more than that;
   * the other such keys have no record.
   */
  private static final int MOST_PROBES = 64;

  private final int maxBytes;
  private final int maxSlots;

  private byte[] ring;

  /** Where the next record goes. */
  private int head;

  /** The oldest record. */
  private int tail;

  /** If wrapped: the end of the records after the tail. */
  private int end;

  /** True if the head is before the tail: records are in tail..end and 0..head. */
  private boolean wrapped;

  /** Positions of records plus one, by hash with linear probing; 0 is free. */
  private int[] slots;

  private int count;

  /**
   * Creates an empty ring.
   *
   * @param bytes of its arrays at most, 0 or more; seven eighths for records, the rest for the
   *     index
   */
  RecordRing(int bytes) {
    this.maxBytes = bytes - bytes / 8;
    this.maxSlots = Math.max(2, Integer.highestOneBit(Math.max(1, bytes / 8 / Integer.BYTES)));
    this.ring = new byte[Math.min(maxBytes, FIRST_BYTES)];
    this.slots = new int[Math.min(maxSlots, FIRST_SLOTS)];
  }

  /** The record of a key, a copy; null if there is none. */
  @Nullable NewestRecord find(Bytes key) {
    int slot = slot(key);
    if (slot < 0) {
      return null;
    }
    int at = slots[slot] - 1;
    ring[at + USED] = 1;
    byte[] copy = Arrays.copyOfRange(ring, at + HEADER, at + number(at, SIZE));
    int keyLength = number(at, KEY_LENGTH);
    return new NewestRecord(
        new KeyValue(
            Bytes.wrap(copy, 0, keyLength),
            longNumber(at, CREATE),
            longNumber(at, MOD),
            longNumber(at, VERSION),
            Bytes.wrap(copy, keyLength, copy.length - keyLength),
            longNumber(at, LEASE)),
        number(at, SUB));
  }

  /** Returns true if the key has a record. */
  boolean contains(Bytes key) {
    return slot(key) >= 0;
  }

  /**
   * Adds the record of a key, or replaces it.
   *
   * <p>The key has no record afterwards if that would be larger than a quarter of the ring, because
   * one record must not evict all others, or if too many keys have slots near it.
   */
  void put(NewestRecord newest) {
    KeyValue kv = newest.kv();
    long size = (long) HEADER + kv.key().length() + kv.value().length();
    int slot = slot(kv.key());
    if (slot >= 0) {
      int at = slots[slot] - 1;
      if (number(at, SIZE) == size) {
        write(at, (int) size, newest);
        ring[at + USED] = 1;
        return;
      }
      free(slot);
    }
    if (size > maxBytes / 4) {
      return;
    }
    reserve((int) size);
    if (index(head, kv.key().hashCode())) {
      write(head, (int) size, newest);
      ring[head + USED] = 0;
      head += (int) size;
    }
  }

  /** Bytes of the arrays. */
  long bytes() {
    return ring.length + (long) Integer.BYTES * slots.length;
  }

  private void write(int at, int size, NewestRecord newest) {
    KeyValue kv = newest.kv();
    INT.set(ring, at + SIZE, size);
    INT.set(ring, at + HASH, kv.key().hashCode());
    INT.set(ring, at + KEY_LENGTH, kv.key().length());
    INT.set(ring, at + SUB, newest.sub());
    LONG.set(ring, at + CREATE, kv.createRevision());
    LONG.set(ring, at + MOD, kv.modRevision());
    LONG.set(ring, at + VERSION, kv.version());
    LONG.set(ring, at + LEASE, kv.lease());
    kv.value().copyTo(ring, kv.key().copyTo(ring, at + HEADER));
  }

  /** Frees {@code size} bytes at the head and a slot. */
  private void reserve(int size) {
    int moves = MOST_MOVES;
    while (count + 1 > slots.length / 2) {
      if (slots.length < maxSlots) {
        growSlots();
      } else {
        moves -= evictOldest(moves);
      }
    }
    if (count == 0) {
      head = 0;
      tail = 0;
      wrapped = false;
    }
    while ((wrapped ? tail : ring.length) - head < size) {
      if (wrapped) {
        moves -= evictOldest(moves);
      } else if (ring.length < maxBytes) {
        ring = Arrays.copyOf(ring, (int) Math.min(maxBytes, 2L * ring.length));
      } else {
        end = head;
        head = 0;
        wrapped = true;
      }
    }
  }

  /**
   * Removes the record at the tail, or what is left of a replaced one. If it was used, it is
   * appended again instead, if it fits.
   *
   * @param moves 0 if it must not be appended again
   * @return 1 if it was, else 0
   */
  private int evictOldest(int moves) {
    int at = tail;
    int size = number(at, SIZE);
    tail += size;
    if (wrapped && tail == end) {
      tail = 0;
      wrapped = false;
    }
    int slot = slotOf(at);
    if (slot < 0) {
      return 0;
    }
    if (moves == 0 || ring[at + USED] == 0 || (wrapped ? tail : ring.length) - head < size) {
      free(slot);
      return 0;
    }
    System.arraycopy(ring, at, ring, head, size);
    ring[head + USED] = 0;
    slots[slot] = head + 1;
    head += size;
    return 1;
  }

  /** The slot of a key, or -1. */
  private int slot(Bytes key) {
    int hash = key.hashCode();
    int slot = first(hash);
    for (int i = 0; i < MOST_PROBES && slots[slot] != 0; i++) {
      if (isAt(slots[slot] - 1, hash, key)) {
        return slot;
      }
      slot = (slot + 1) & (slots.length - 1);
    }
    return -1;
  }

  private boolean isAt(int at, int hash, Bytes key) {
    int from = at + HEADER;
    return number(at, HASH) == hash
        && number(at, KEY_LENGTH) == key.length()
        && Arrays.equals(
            ring,
            from,
            from + key.length(),
            key.backingArray(),
            key.backingOffset(),
            key.backingOffset() + key.length());
  }

  /** The slot that refers to a position, or -1. */
  private int slotOf(int at) {
    int slot = first(number(at, HASH));
    for (int i = 0; i < MOST_PROBES && slots[slot] != 0; i++) {
      if (slots[slot] == at + 1) {
        return slot;
      }
      slot = (slot + 1) & (slots.length - 1);
    }
    return -1;
  }

  /** Takes the first free slot for a record, unless it is too far away. */
  private boolean index(int at, int hash) {
    int slot = first(hash);
    for (int i = 0; i < MOST_PROBES; i++) {
      if (slots[slot] == 0) {
        slots[slot] = at + 1;
        count++;
        return true;
      }
      slot = (slot + 1) & (slots.length - 1);
    }
    return false;
  }

  /**
   * Frees a slot and moves the ones after it that a search would no longer reach. They are less
   * than {@link #MOST_PROBES} behind it, so a long row of used slots, which a client can make, does
   * not matter.
   */
  private void free(int slot) {
    int mask = slots.length - 1;
    int free = slot;
    for (int next = (free + 1) & mask;
        slots[next] != 0 && ((next - free) & mask) < MOST_PROBES;
        next = (next + 1) & mask) {
      int home = first(number(slots[next] - 1, HASH));
      if (((next - home) & mask) >= ((next - free) & mask)) {
        slots[free] = slots[next];
        free = next;
      }
    }
    slots[free] = 0;
    count--;
  }

  private void growSlots() {
    int[] former = slots;
    slots = new int[2 * former.length];
    count = 0;
    for (int place : former) {
      if (place != 0) {
        index(place - 1, number(place - 1, HASH));
      }
    }
  }

  /** Where the search for a hash starts. The stripe of a key depends on other bits of a product. */
  private int first(int hash) {
    return ((hash * 0x85ebca6b) >>> 15) & (slots.length - 1);
  }

  private int number(int at, int field) {
    return (int) INT.get(ring, at + field);
  }

  private long longNumber(int at, int field) {
    return (long) LONG.get(ring, at + field);
  }
}
