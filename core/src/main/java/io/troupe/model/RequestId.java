package io.troupe.model;

/**
 * Identity of one proposal, unique over members and restarts.
 *
 * @param value any number but 0
 */
public record RequestId(long value) {
  @Override
  public String toString() {
    return Long.toHexString(value);
  }
}
