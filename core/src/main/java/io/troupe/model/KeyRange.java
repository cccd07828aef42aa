package io.troupe.model;

import org.jspecify.annotations.Nullable;

/**
 * A range of user keys in etcd's form (section 2.2).
 *
 * @param key first key, inclusive
 * @param rangeEnd empty: exactly {@code key} (K1); one zero byte: every key from {@code key} on
 *     (K2); else the first key behind the range (K3), and the range is empty when that is not above
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

  /** True when the range can only ever hold {@link #key()}. */
  public boolean isSingle() {
    return rangeEnd.isEmpty();
  }

  /** True when there is no upper end. */
  public boolean isOpenEnded() {
    return rangeEnd.equals(OPEN);
  }

  /** True when no key can be in the range (K3). */
  public boolean isEmpty() {
    return !isSingle() && !isOpenEnded() && rangeEnd.compareTo(key) <= 0;
  }

  /** First key behind the range, or null when it is open ended; for a single key its successor. */
  public @Nullable Bytes toExclusive() {
    if (isSingle()) {
      return key.successor();
    }
    return isOpenEnded() ? null : rangeEnd;
  }

  /** True when {@code candidate} lies in the range. */
  public boolean contains(Bytes candidate) {
    if (isSingle()) {
      return candidate.equals(key);
    }
    return candidate.compareTo(key) >= 0 && (isOpenEnded() || candidate.compareTo(rangeEnd) < 0);
  }
}
