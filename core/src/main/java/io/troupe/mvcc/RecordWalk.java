package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;

/**
 * A walk over the keys that are alive at one revision, in key order, one record each. It begins
 * before the first. Used by one thread and closed by whoever opened it.
 */
interface RecordWalk extends AutoCloseable {
  /** Steps to the next live key; false when there is none. */
  boolean next();

  /**
   * Steps to where {@link #place} once was.
   *
   * @throws StoreException if it is not there, which a frozen view excludes
   */
  void back(Bytes place);

  /** Where the walk stands, for {@link #back}; valid for good. */
  Bytes place();

  /** The live key. */
  Bytes key();

  /** Its record. */
  KeyValue record();

  /** Its record as keys-only reads show it: neither value nor lease (G6). */
  KeyValue keyOnly();

  @Override
  void close();
}
