package io.troupe.machine;

import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares the digest of this member's state ({@link StateMachine#digest}) with a leader's. A
 * leader's digest for an index that is not applied here yet is kept until it is. Used only by the
 * thread that applies.
 */
public final class DigestCheck {
  /** Number of own digests that are kept: a leader's digest is rarely later than that. */
  static final int KEPT = 4096;

  /**
   * Number of digests of the leader that are kept for unapplied entries; further ones are ignored.
   */
  static final int WAITING = 16;

  /**
   * Two states that should be equal and are not.
   *
   * @param index the entry after which they were compared; they diverged there or before
   * @param own digest of this member
   * @param leaders digest of the leader
   */
  public record Difference(long index, long own, long leaders) {}

  private final long[] digests = new long[KEPT];
  private final TreeMap<Long, Long> expected = new TreeMap<>();
  private final long first;
  private long applied;

  /**
   * Starts with the state as it was opened.
   *
   * @param index its applied index
   * @param digest its digest at that index
   */
  public DigestCheck(long index, long digest) {
    this.first = index;
    this.applied = index;
    digests[place(index)] = digest;
  }

  private static int place(long index) {
    return (int) (index & (KEPT - 1));
  }

  /** Index of the newest digest. */
  public long index() {
    return applied;
  }

  /** The newest digest. */
  public long digest() {
    return digests[place(applied)];
  }

  /**
   * An entry was applied.
   *
   * @param index one above the last
   * @return a difference if a leader's digest for this entry was pending and is not equal
   */
  public @Nullable Difference applied(long index, long digest) {
    digests[place(index)] = digest;
    applied = index;
    if (expected.isEmpty() || expected.firstKey() > index) {
      return null;
    }
    return compare(index, expected.pollFirstEntry().getValue());
  }

  /**
   * A leader reported its digest for an index.
   *
   * @return a difference if the digest of this member is known and not equal
   */
  public @Nullable Difference compare(long index, long leaders) {
    if (index > applied) {
      if (expected.size() < WAITING) {
        expected.put(index, leaders);
      }
      return null;
    }
    if (index < first || index <= applied - KEPT) {
      return null;
    }
    long own = digests[place(index)];
    return own == leaders ? null : new Difference(index, own, leaders);
  }
}
