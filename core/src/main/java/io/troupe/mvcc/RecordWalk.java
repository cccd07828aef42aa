package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;

/**
 * A walk over the keys that are live at one revision, in key order, one record each. It starts
 * before the first key. Used by one thread and closed by the caller that opened it.
 */
interface RecordWalk extends AutoCloseable {
  /** Moves to the next live key; false if there is none. */
  boolean next();

  /** Moves to the first live key at or after {@code key}; false if there is none. */
  boolean seek(Bytes key);

  /**
   * Moves back to a position that {@link #place} returned.
   *
   * @throws StoreException if it is not there, which cannot happen in a frozen view
   */
  void back(Bytes place);

  /** Position of the walk, for {@link #back}; stays valid after the next move. */
  Bytes place();

  /** The live key. */
  Bytes key();

  /** Its record. */
  KeyValue record();

  /** Its record as keys-only reads return it: neither value nor lease (G6). */
  KeyValue keyOnly();

  @Override
  void close();
}
