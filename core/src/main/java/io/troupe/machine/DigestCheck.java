package io.troupe.machine;

import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares what this member's state did ({@link StateMachine#digest}) with what a leader's did.
 * What a leader says of an index that is not applied here yet waits for it. One caller, who also
 * applies.
 */
public final class DigestCheck {
  /** Entries to look back on: a leader's word is rarely later than that. */
  static final int KEPT = 4096;

  /** Words of the leader about entries that are not applied here yet; more are skipped. */
  static final int WAITING = 16;

  /**
   * Two states that should be equal and are not.
   *
   * @param index the entry after which they were compared; they went apart there or before
   * @param own digest of this member
   * @param leaders digest of the leader
   */
  public record Difference(long index, long own, long leaders) {}

  private final long[] digests = new long[KEPT];
  private final TreeMap<Long, Long> expected = new TreeMap<>();
  private final long first;
  private long applied;

  /**
   * Begins with a state as it was opened.
   *
   * @param index its applied index
   * @param digest as of there
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
   * @return a difference if a leader's word about this entry was waiting and another one
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
   * A leader says what its digest is as of an index.
   *
   * @return a difference if this member's is known and another one
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
