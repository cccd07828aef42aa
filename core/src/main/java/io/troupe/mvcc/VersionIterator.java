package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import org.jspecify.annotations.Nullable;

/** Walks over the history: returns for each key the version that was visible at one revision. */
final class VersionIterator implements RecordWalk {
  // Most keys have one or two versions: stepping over them is cheaper than a seek.
  private static final int STEPS_BEFORE_SEEK = 4;

  private final OrderedStore.Cursor cursor;
  private final long atRevision;
  private @Nullable Bytes row;

  /**
   * Takes ownership of the cursor.
   *
   * @param cursor over rows of the key space
   */
  VersionIterator(OrderedStore.Cursor cursor, long atRevision) {
    this.cursor = cursor;
    this.atRevision = atRevision;
  }

  @Override
  public boolean next() {
    Bytes from = row;
    return toLive(from == null ? cursor.next() : toNextKey(from));
  }

  @Override
  public boolean seek(Bytes key) {
    return toLive(cursor.seek(StoreKeys.firstOf(key)));
  }

  /** Moves from a row, if there is one, to the first version that is visible. */
  private boolean toLive(boolean onRow) {
    boolean found = onRow;
    while (found) {
      Bytes candidate = cursor.key();
      if (StoreKeys.main(candidate) > atRevision) {
        found = toVisible(candidate);
      } else if (StoreKeys.isTombstone(candidate)) {
        found = toNextKey(candidate);
      } else {
        row = candidate;
        return true;
      }
    }
    return false;
  }

  @Override
  public void back(Bytes place) {
    if (!cursor.seek(place) || !cursor.key().equals(place)) {
      throw new StoreException("row is missing in a frozen view");
    }
    row = place;
  }

  @Override
  public Bytes place() {
    Bytes current = row;
    if (current == null) {
      throw new IllegalStateException("walk is not at a row");
    }
    return current;
  }

  @Override
  public Bytes key() {
    return StoreKeys.userKey(place());
  }

  @Override
  public KeyValue record() {
    return RowCodec.keyValue(place(), cursor.value());
  }

  @Override
  public KeyValue keyOnly() {
    return RowCodec.keyOnly(place(), cursor.valueHead(RowCodec.HEADER_BYTES));
  }

  @Override
  public void close() {
    cursor.close();
  }

  /**
   * Moves from a version that is too new to the first one that is not, or to the newest version of
   * another key.
   */
  private boolean toVisible(Bytes tooNew) {
    for (int i = 0; i < STEPS_BEFORE_SEEK; i++) {
      if (!cursor.next()) {
        return false;
      }
      Bytes candidate = cursor.key();
      if (StoreKeys.main(candidate) <= atRevision || !StoreKeys.sameKey(candidate, tooNew)) {
        return true;
      }
    }
    return cursor.seek(StoreKeys.newestAtOfRow(tooNew, atRevision));
  }

  private boolean toNextKey(Bytes done) {
    for (int i = 0; i < STEPS_BEFORE_SEEK; i++) {
      if (!cursor.next()) {
        return false;
      }
      if (!StoreKeys.sameKey(cursor.key(), done)) {
        return true;
      }
    }
    return cursor.seek(StoreKeys.afterRow(done));
  }
}
