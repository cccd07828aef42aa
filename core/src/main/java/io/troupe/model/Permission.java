package io.troupe.model;

/**
 * What a role allows on some keys (A11, A12).
 *
 * @param range which keys; in a role never empty
 */
public record Permission(Type type, KeyRange range) {
  /** What may be done. */
  public enum Type {
    /** See the keys. */
    READ(0),
    /** Change the keys. */
    WRITE(1),
    /** Both. */
    READWRITE(2);

    private final int code;

    Type(int code) {
      this.code = code;
    }

    /** The number on disk and on the wire. */
    public int code() {
      return code;
    }

    /** True if it lets one see. */
    public boolean reads() {
      return this != WRITE;
    }

    /** True if it lets one change. */
    public boolean writes() {
      return this != READ;
    }

    /**
     * The type with that number.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Type ofCode(int code) {
      for (Type type : values()) {
        if (type.code == code) {
          return type;
        }
      }
      throw new IllegalArgumentException("unknown permission type " + code);
    }
  }
}
