package io.troupe.model;

/**
 * A checked Range request (2.3).
 *
 * @param range keys to read
 * @param limit maximum number of records to return; 0 or less: no limit (G3)
 * @param revision revision to read at; 0 or less: the current one (G2)
 * @param order see G8
 * @param target see G8
 * @param keysOnly omit values; see the quirk in G6
 * @param countOnly only count (G5)
 * @param minModRevision inclusive, 0 when unset (G7); likewise the next three
 */
public record RangeQuery(
    KeyRange range,
    long limit,
    long revision,
    SortOrder order,
    SortTarget target,
    boolean keysOnly,
    boolean countOnly,
    long minModRevision,
    long maxModRevision,
    long minCreateRevision,
    long maxCreateRevision) {

  /** Wire numbers are the ordinals. */
  public enum SortOrder {
    /** In the order of the store. */
    NONE,
    /** Smallest first. */
    ASCEND,
    /** Greatest first. */
    DESCEND
  }

  /** Wire numbers are the ordinals. */
  public enum SortTarget {
    /** The user key. */
    KEY,
    /** Number of puts since creation. */
    VERSION,
    /** Creation revision. */
    CREATE,
    /** Last modification revision. */
    MOD,
    /** The value's bytes. */
    VALUE
  }

  /** Returns a query for all records of {@code range} at {@code revision}, in key order. */
  public static RangeQuery of(KeyRange range, long revision) {
    return new RangeQuery(
        range, 0, revision, SortOrder.NONE, SortTarget.KEY, false, false, 0, 0, 0, 0);
  }

  /** True if any revision filter is set. */
  public boolean hasRevisionFilter() {
    return minModRevision != 0
        || maxModRevision != 0
        || minCreateRevision != 0
        || maxCreateRevision != 0;
  }
}
