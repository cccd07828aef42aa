package io.troupe.model;

/**
 * One entry of the Raft log.
 *
 * @param term term of the leader that created the entry, 1 or more
 * @param index position in the log, 1 or more, without gaps
 * @param kind type of {@code data}
 * @param data the encoded operation or membership change; empty for {@link Kind#NOOP}
 */
public record Entry(long term, long index, Kind kind, Bytes data) {
  /** Type of an entry. The numbers are on disk and on the wire: never reuse one. */
  public enum Kind {
    /** No data: the first entry of a new leader. */
    NOOP(0),
    /** An encoded {@link Operation}. */
    OPERATION(1),
    /** An encoded membership change. */
    CONF_CHANGE(2);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /** Returns the number used on disk and on the wire. */
    public int code() {
      return code;
    }

    /**
     * Returns the kind with the given number.
     *
     * @throws IllegalArgumentException if no kind has that number
     */
    public static Kind ofCode(int code) {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new IllegalArgumentException("unknown entry kind " + code);
    }
  }
}
