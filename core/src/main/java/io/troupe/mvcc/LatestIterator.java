package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import org.jspecify.annotations.Nullable;

/**
 * Walks over newest records: one row for each live key, however long its history is. The cursor's
 * own view defines the revision at which they are the newest.
 */
final class LatestIterator implements RecordWalk {
  private final Cursor cursor;
  private final Bytes start;
  private boolean started;

  /**
   * Takes ownership of the cursor.
   *
   * @param cursor over {@link OrderedStore.Space#LATEST} from its start to {@link #upper}
   * @param start first key to return
   */
  LatestIterator(Cursor cursor, Bytes start) {
    this.cursor = cursor;
    this.start = start;
  }

  /** Exclusive upper bound of the rows of a range, or null if it is open ended. */
  static @Nullable Bytes upper(KeyRange range) {
    if (range.isSingle()) {
      return range.key().successor();
    }
    return range.isOpenEnded() ? null : range.rangeEnd();
  }

  /** The revision whose live keys the walk returns. Must be called before the first step. */
  long revision() {
    boolean any = cursor.next();
    return any && cursor.key().isEmpty()
        ? StoreKeys.getLong(cursor.value(), 0)
        : MvccStore.FIRST_REVISION;
  }

  @Override
  public boolean next() {
    if (started) {
      return cursor.next();
    }
    started = true;
    return cursor.seek(start);
  }

  @Override
  public boolean seek(Bytes key) {
    started = true;
    return cursor.seek(key);
  }

  @Override
  public void back(Bytes place) {
    if (!cursor.seek(place) || !cursor.key().equals(place)) {
      throw new StoreException("row is missing in a frozen view");
    }
  }

  @Override
  public Bytes place() {
    return cursor.key();
  }

  @Override
  public Bytes key() {
    return cursor.key();
  }

  @Override
  public KeyValue record() {
    return newest().kv();
  }

  /** The record of the live key and its place. */
  NewestRecord newest() {
    return RowCodec.latest(cursor.key(), cursor.value());
  }

  @Override
  public KeyValue keyOnly() {
    return RowCodec.latestKeyOnly(cursor.key(), cursor.valueHead(RowCodec.HEADER_BYTES));
  }

  @Override
  public void close() {
    cursor.close();
  }
}
