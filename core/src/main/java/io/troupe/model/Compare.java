package io.troupe.model;

/**
 * One condition of a transaction (X6, X7).
 *
 * @param range a single key, or a range of keys that must all satisfy the condition
 * @param target field of the stored record that is compared
 * @param result relation that must hold between the stored and the given value
 * @param number the given version, revision or lease; 0 if the request's union does not match the
 *     target
 * @param value the given value for {@link Target#VALUE}; empty if the union does not match
 */
public record Compare(KeyRange range, Target target, Relation result, long number, Bytes value) {

  /**
   * Field that is compared. Wire numbers are the ordinals; UNKNOWN is used for any other number.
   */
  public enum Target {
    /** Number of puts since creation. */
    VERSION,
    /** Creation revision. */
    CREATE,
    /** Last modification revision. */
    MOD,
    /** Value bytes. */
    VALUE,
    /** Attached lease. */
    LEASE,
    /** Compares as equal. */
    UNKNOWN
  }

  /** Relation to check. Wire numbers are the ordinals; UNKNOWN is used for any other number. */
  public enum Relation {
    /** Stored equals given. */
    EQUAL,
    /** Stored is greater than given. */
    GREATER,
    /** Stored is less than given. */
    LESS,
    /** Stored differs from given. */
    NOT_EQUAL,
    /** Always holds. */
    UNKNOWN
  }
}
