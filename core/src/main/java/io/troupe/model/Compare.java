package io.troupe.model;

/**
 * One condition of a transaction (X6, X7).
 *
 * @param range the key, or every key of a range
 * @param target what of the stored record is compared
 * @param result which relation must hold, stored against given
 * @param number the given version, revision or lease; 0 when the request's union did not match the
 *     target
 * @param value the given value for {@link Target#VALUE}; empty when the union did not match
 */
public record Compare(KeyRange range, Target target, Relation result, long number, Bytes value) {

  /** What is compared. Wire numbers are the ordinals; UNKNOWN stands for any other number. */
  public enum Target {
    /** Puts since creation. */
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

  /** Which relation. Wire numbers are the ordinals; UNKNOWN stands for any other number. */
  public enum Relation {
    /** Stored equals given. */
    EQUAL,
    /** Stored is above given. */
    GREATER,
    /** Stored is below given. */
    LESS,
    /** Stored differs from given. */
    NOT_EQUAL,
    /** Always holds. */
    UNKNOWN
  }
}
