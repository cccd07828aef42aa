package io.troupe.model;

/**
 * A permission of a role on some keys (A11, A12).
 *
 * @param range the keys; never empty in a role
 */
public record Permission(Type type, KeyRange range) {
  /** Kind of access. */
  public enum Type {
    /** Read the keys. */
    READ(0),
    /** Write the keys. */
    WRITE(1),
    /** Both. */
    READWRITE(2);

    private final int code;

    Type(int code) {
      this.code = code;
    }

    /** Returns the number used on disk and on the wire. */
    public int code() {
      return code;
    }

    /** True if the permission allows reads. */
    public boolean reads() {
      return this != WRITE;
    }

    /** True if the permission allows writes. */
    public boolean writes() {
      return this != READ;
    }

    /**
     * Returns the type with the given number.
     *
     * @throws IllegalArgumentException if no type has that number
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
