package io.troupe.model;

import org.jspecify.annotations.Nullable;

/**
 * A range of user keys in etcd's form (section 2.2).
 *
 * @param key first key, inclusive
 * @param rangeEnd empty: exactly {@code key} (K1); one zero byte: every key from {@code key} on
 *     (K2); otherwise the first key after the range (K3): the range is empty if that is not above
 *     {@code key}
 */
public record KeyRange(Bytes key, Bytes rangeEnd) {
  private static final Bytes OPEN = Bytes.of(0);

  /** Exactly one key. */
  public static KeyRange single(Bytes key) {
    return new KeyRange(key, Bytes.EMPTY);
  }

  /** Every key. */
  public static KeyRange all() {
    return new KeyRange(OPEN, OPEN);
  }

  /** True if the range contains {@link #key()} and nothing else. */
  public boolean isSingle() {
    return rangeEnd.isEmpty();
  }

  /** True if there is no upper end. */
  public boolean isOpenEnded() {
    return rangeEnd.equals(OPEN);
  }

  /** True if no key can be in the range (K3). */
  public boolean isEmpty() {
    return !isSingle() && !isOpenEnded() && rangeEnd.compareTo(key) <= 0;
  }

  /** First key after the range; null if the range is open ended; the successor of a single key. */
  public @Nullable Bytes toExclusive() {
    if (isSingle()) {
      return key.successor();
    }
    return isOpenEnded() ? null : rangeEnd;
  }

  /** True if {@code candidate} lies in the range. */
  public boolean contains(Bytes candidate) {
    if (isSingle()) {
      return candidate.equals(key);
    }
    return candidate.compareTo(key) >= 0 && (isOpenEnded() || candidate.compareTo(rangeEnd) < 0);
  }
}
