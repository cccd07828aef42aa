package io.troupe.model;

/**
 * One entry of the Raft log.
 *
 * @param term term of the leader that made it, 1 or more
 * @param index position in the log, 1 or more, without gaps
 * @param kind what {@code data} is
 * @param data the encoded operation or membership change; empty for {@link Kind#NOOP}
 */
public record Entry(long term, long index, Kind kind, Bytes data) {
  /** What an entry carries. The numbers are on disk and on the wire: never reuse one. */
  public enum Kind {
    /** Nothing: a new leader's first entry. */
    NOOP(0),
    /** An {@link Operation} in its encoded form. */
    OPERATION(1),
    /** A change of the membership in its encoded form. */
    CONF_CHANGE(2);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /** The number on disk and on the wire. */
    public int code() {
      return code;
    }

    /**
     * The kind with that number.
     *
     * @throws IllegalArgumentException if there is none
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
