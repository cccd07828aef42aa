package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A running digest of all effects of applied entries: the rows they wrote, the values they
 * replaced, the revision they left. Each entry is chained to the previous one, so members whose
 * states diverged once have different digests from then on. Rows that are derived from others
 * (LATEST, REV) and the removal of compacted versions do not count.
 *
 * <p>Detects faults, not forgery: within an entry it is a CRC-32C.
 */
final class EffectDigest {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private final CRC32C content = new CRC32C();
  private long shape;
  private long value;

  /** Continues from the digest of the last entry; 0 before the first. */
  EffectDigest(long value) {
    this.value = value;
  }

  /** The current entry sets or removes a row. */
  void changed(Space space, Bytes key, @Nullable Bytes row) {
    int code = code(space);
    if (code == 0) {
      return;
    }
    add(key);
    if (row != null) {
      add(row);
    }
    // The lengths prevent that bytes move between key, value and neighboring rows unnoticed.
    long lengths = ((long) key.length() << 32) | (row == null ? 0 : row.length() + 1L);
    shape = (shape ^ lengths) * SPREAD + code;
  }

  /** The current entry replaces or deletes this record. */
  void replaced(@Nullable KeyValue former) {
    if (former != null) {
      add(former.value());
      shape = (shape ^ former.modRevision()) * SPREAD + former.value().length();
    }
  }

  /** The current entry is complete. */
  void applied(long index, long term, long revision) {
    long entry = shape;
    entry = (entry ^ content.getValue()) * SPREAD;
    entry = (entry ^ index) * SPREAD;
    entry = (entry ^ term) * SPREAD;
    entry = (entry ^ revision) * SPREAD;
    value = mix((value + SPREAD) ^ entry);
    content.reset();
    shape = 0;
  }

  /** The digest after the last entry. */
  long value() {
    return value;
  }

  private void add(Bytes bytes) {
    content.update(bytes.backingArray(), bytes.backingOffset(), bytes.length());
  }

  /** Part of the digest: never change a code. 0 for spaces that do not count. */
  private static int code(Space space) {
    return switch (space) {
      case KEY -> 1;
      case LEASE -> 2;
      case META -> 3;
      case LATEST, REV -> 0;
    };
  }

  /**
   * Every input bit affects every output bit.
   *
   * @source the finalizer of SplittableRandom (Steele, Lea, Flood 2014), variant 13 of Stafford
   */
  private static long mix(long bits) {
    long z = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
