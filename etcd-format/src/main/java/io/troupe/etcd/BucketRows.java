package io.troupe.etcd;

import io.troupe.model.Bytes;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** The rows of one bucket in the order of their keys. One thread at a time. */
interface BucketRows {
  /** Moves to the next row; false at the end. */
  boolean next();

  /** Key of the current row. */
  Bytes key();

  /** Value of the current row: its parts, one after the other. */
  List<Bytes> value();

  /** Rows in memory. */
  static BucketRows of(SortedMap<Bytes, Bytes> rows) {
    Iterator<Map.Entry<Bytes, Bytes>> each = rows.entrySet().iterator();
    return new BucketRows() {
      private Map.@Nullable Entry<Bytes, Bytes> current;

      @Override
      public boolean next() {
        current = each.hasNext() ? each.next() : null;
        return current != null;
      }

      @Override
      public Bytes key() {
        return row().getKey();
      }

      @Override
      public List<Bytes> value() {
        return List.of(row().getValue());
      }

      private Map.Entry<Bytes, Bytes> row() {
        if (current == null) {
          throw new IllegalStateException("not at a row");
        }
        return current;
      }
    };
  }
}
