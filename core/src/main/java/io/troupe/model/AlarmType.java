package io.troupe.model;

/** Kinds of alarm. */
public enum AlarmType {
  /** No alarm; in a request: any. */
  NONE(0),
  /** The quota is used up. */
  NOSPACE(1),
  /** Replicas differ. */
  CORRUPT(2);

  private final int code;

  AlarmType(int code) {
    this.code = code;
  }

  /** Returns the number used on disk and on the wire. */
  public int code() {
    return code;
  }

  /**
   * Returns the type with the given number.
   *
   * @throws IllegalArgumentException if no type has that number
   */
  public static AlarmType ofCode(int code) {
    for (AlarmType type : values()) {
      if (type.code == code) {
        return type;
      }
    }
    throw new IllegalArgumentException("unknown alarm type " + code);
  }
}
