package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import org.jspecify.annotations.Nullable;

/**
 * The difference between the live keys of two revisions, from the changes in between. For any
 * thread.
 */
final class CountChanges {
  /** A look-up of a version costs as much as this many steps. */
  private static final int LOOK_UP_STEPS = 16;

  private final StoreView store;
  private final Changes changes;
  private final long creationsSince;

  /** Opens a cursor over {@link Space#REV}. */
  interface Changes {
    /** Returns null if changes after {@code revision} may be compacted. */
    @Nullable Cursor after(long revision, @Nullable Bytes toExclusive);
  }

  /**
   * Prepares counts.
   *
   * @param creationsSince the first revision whose changes show which puts created a key; for
   *     others the version is looked up in {@code store}
   */
  CountChanges(StoreView store, Changes changes, long creationsSince) {
    this.store = store;
    this.changes = changes;
    this.creationsSince = creationsSince;
  }

  /**
   * Live keys of one revision minus those of an earlier one.
   *
   * @param before of the keys before a boundary
   * @param behind of the keys from the boundary on
   */
  record Difference(long before, long behind) {}

  /**
   * The differences for the keys from {@code from} to {@code end}.
   *
   * @param newer {@link Long#MAX_VALUE} for all changes
   * @param boundary divides the keys; null: all of them are before it
   * @param end exclusive, or null for none
   * @param most maximum number of changes to walk over, about
   * @return null if there are more changes, or if they are compacted
   */
  @Nullable Difference between(
      long older,
      long newer,
      Bytes from,
      @Nullable Bytes boundary,
      @Nullable Bytes end,
      long most) {
    Bytes to = newer == Long.MAX_VALUE ? null : StoreKeys.revision(newer + 1, 0);
    try (Cursor rows = changes.after(older, to)) {
      if (rows == null) {
        return null;
      }
      long before = 0;
      long behind = 0;
      long steps = 0;
      while (rows.next()) {
        if (++steps > most) {
          return null;
        }
        Bytes change = rows.value();
        Bytes key = RowCodec.changedKey(change);
        if (key.compareTo(from) < 0 || (end != null && key.compareTo(end) >= 0)) {
          continue;
        }
        int difference = 0;
        if (RowCodec.isTombstoneChange(change)) {
          difference = -1;
        } else if (RowCodec.isCreation(change)) {
          difference = 1;
        } else if (StoreKeys.revisionMain(rows.key()) < creationsSince) {
          steps += LOOK_UP_STEPS;
          Bytes version = version(rows.key(), key);
          if (version == null) {
            return null;
          }
          difference = RowCodec.versionOf(version) == 1 ? 1 : 0;
        }
        if (boundary == null || key.compareTo(boundary) < 0) {
          before += difference;
        } else {
          behind += difference;
        }
      }
      return new Difference(before, behind);
    }
  }

  private @Nullable Bytes version(Bytes place, Bytes key) {
    long main = StoreKeys.revisionMain(place);
    int sub = StoreKeys.revisionSub(place);
    Bytes latest = store.get(Space.LATEST, key);
    RowCodec.Place newest = latest == null ? null : RowCodec.place(latest);
    return latest != null && newest != null && newest.main() == main && newest.sub() == sub
        ? latest.slice(newest.bytes())
        : store.get(Space.KEY, StoreKeys.row(key, main, sub, false));
  }
}
