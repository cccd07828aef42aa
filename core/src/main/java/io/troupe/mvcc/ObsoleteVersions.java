package io.troupe.mvcc;

/**
 * A part of the search for the versions that a compaction makes obsolete. It holds the store open,
 * so it ends after a while and {@link #rest} opens the next part. One thread.
 */
interface ObsoleteVersions extends AutoCloseable {
  /**
   * Rows that one part checks. A part must be long, because a new one may step over the deletion
   * marks of the versions removed before. But it also keeps the store from freeing space that was
   * replaced meanwhile.
   */
  int MOST_ROWS = 100_000;

  /** Opens a part. */
  @FunctionalInterface
  interface Opening {
    ObsoleteVersions open(StoreView store);
  }

  /**
   * Adds removals to a batch.
   *
   * @param removal not full
   * @param maxChecked maximum number of rows to check, 1 or more
   * @return true if nothing is left, in this part and any later one
   */
  boolean fill(VersionRemoval removal, int maxChecked);

  /** True if this part ends here, and the next part must do the rest. */
  boolean isOver();

  /** The next part; call it only if something is left. */
  Opening rest();

  @Override
  void close();
}
