package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import org.jspecify.annotations.Nullable;

/**
 * The newest record of a key.
 *
 * @param kv version 0 if the key does not exist
 * @param sub its sub revision, or {@link #IN_HISTORY}
 */
record NewestRecord(KeyValue kv, int sub) {
  /** {@link OrderedStore.Space#KEY} has the version already, or the key does not exist. */
  static final int IN_HISTORY = -1;

  /** Placeholder for a key that does not exist since {@code revision} or before. */
  static NewestRecord absent(Bytes key, long revision) {
    return new NewestRecord(new KeyValue(key, 0, revision, 0, Bytes.EMPTY, 0), IN_HISTORY);
  }

  boolean isAbsent() {
    return kv.version() == 0;
  }

  /** The record, or null if the key does not exist. */
  @Nullable KeyValue live() {
    return isAbsent() ? null : kv;
  }

  /** Its row of KEY, as it is in the history. */
  Bytes row() {
    return StoreKeys.row(kv.key(), kv.modRevision(), sub, false);
  }

  /** The value of that row. */
  Bytes value() {
    return RowCodec.record(kv.createRevision(), kv.version(), kv.lease(), kv.value());
  }
}
