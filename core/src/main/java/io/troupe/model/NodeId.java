package io.troupe.model;

/**
 * Identity of a member (8.3), an unsigned 64-bit number.
 *
 * @param value 0 means none
 */
public record NodeId(long value) implements Comparable<NodeId> {
  /** No member. */
  public static final NodeId NONE = new NodeId(0);

  /** True for {@link #NONE}. */
  public boolean isNone() {
    return value == 0;
  }

  @Override
  public int compareTo(NodeId other) {
    return Long.compareUnsigned(value, other.value);
  }

  /** Lower-case hex without padding (ID4). */
  @Override
  public String toString() {
    return Long.toHexString(value);
  }
}
