package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Space;

/**
 * Position of a frozen state. Rows above {@code revision} belong to an entry that is only partly in
 * the state; they do not count.
 *
 * @param revision current revision, 1 or more
 * @param compactedRevision -1 if nothing was compacted
 * @param appliedIndex log index of the last complete entry
 * @param appliedTerm term of that entry
 */
public record FrozenHistory(
    long revision, long compactedRevision, long appliedIndex, long appliedTerm) {

  /** Reads the position. */
  public static FrozenHistory of(StoreView view) {
    Bytes applied = view.get(Space.META, StoreKeys.META_APPLIED);
    PartialEntry partial = PartialEntry.find(view);
    return new FrozenHistory(
        partial == null
            ? number(view, Space.LATEST, StoreKeys.LATEST_REVISION, MvccStore.FIRST_REVISION)
            : partial.base(),
        number(view, Space.META, StoreKeys.META_COMPACTED, MvccStore.NOTHING_COMPACTED),
        applied == null ? 0 : StoreKeys.getLong(applied, 0),
        applied == null ? 0 : StoreKeys.getLong(applied, 8));
  }

  private static long number(StoreView view, Space space, Bytes key, long whenAbsent) {
    Bytes value = view.get(space, key);
    return value == null ? whenAbsent : StoreKeys.getLong(value, 0);
  }
}
