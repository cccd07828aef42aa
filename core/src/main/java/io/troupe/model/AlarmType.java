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

  /** The number on disk and on the wire. */
  public int code() {
    return code;
  }

  /**
   * The type with that number.
   *
   * @throws IllegalArgumentException if there is none
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
