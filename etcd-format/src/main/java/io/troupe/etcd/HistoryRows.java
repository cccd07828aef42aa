package io.troupe.etcd;

import io.troupe.model.Bytes;
import io.troupe.mvcc.HistoryExport;
import java.util.List;

/** Rows of the key bucket. */
record HistoryRows(HistoryExport history) implements BucketRows {
  @Override
  public boolean next() {
    return history.next();
  }

  @Override
  public Bytes key() {
    return history.key();
  }

  @Override
  public List<Bytes> value() {
    return history.message();
  }
}
