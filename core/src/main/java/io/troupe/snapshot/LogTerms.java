package io.troupe.snapshot;

/** The terms in a log: decides which snapshots can replace a lost or an old state. */
public interface LogTerms {
  /** Term of an index that the log does not have. */
  long NONE = -1;

  /**
   * Index before the first entry: the last one that was removed, or that of a snapshot; 0: none.
   */
  long compactedIndex();

  /**
   * Term of an entry.
   *
   * @param index above {@link #compactedIndex}
   * @return {@link #NONE} if the log has no such entry
   */
  long termAt(long index);

  /**
   * True if this log continues a snapshot: it begins there, or contains the same entry. A snapshot
   * that was received from another member and not installed can be after the end of the log, or the
   * log has another entry at its index. Only committed entries are removed from a log, so it has no
   * other term at the index before its first entry.
   *
   * @param index of the last entry in the snapshot
   * @param term of that entry
   */
  default boolean continues(long index, long term) {
    return index == compactedIndex() || (index > compactedIndex() && termAt(index) == term);
  }
}
