package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.RangeQuery.SortTarget;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads one chunk of a long read (GS4, GS7) over one walk. The caller checks revisions and closes
 * the walk.
 *
 * @source section 2.4
 */
final class PageRead {
  private final RecordWalk walk;
  private final int limit;
  private final long maxBytes;
  private final boolean keysOnly;

  /**
   * Prepares a read.
   *
   * @param walk over the rest of the range, before its first key
   * @param limit maximum number of records, 1 or more
   * @param maxBytes stop after the record with which keys and values reach this size; one is always
   *     returned
   */
  PageRead(RecordWalk walk, int limit, long maxBytes, boolean keysOnly) {
    this.walk = walk;
    this.limit = limit;
    this.maxBytes = maxBytes;
    this.keysOnly = keysOnly;
  }

  /** In key order, complete. */
  Page.Records inKeyOrder() {
    List<KeyValue> kvs = new ArrayList<>(Math.min(limit, 1024));
    long bytes = 0;
    while (walk.next()) {
      if (kvs.size() >= limit || (bytes >= maxBytes && !kvs.isEmpty())) {
        return new Page.Records(kvs, walk.key(), bytes);
      }
      KeyValue kv = keysOnly ? walk.keyOnly() : walk.record();
      bytes += size(kv);
      kvs.add(kv);
    }
    return new Page.Records(kvs, null, bytes);
  }

  /**
   * GS7: the extra record that proves "more" takes part in the sort, as in a Range with a limit
   * (G8), and the next chunk starts after the key that sorted last. Each chunk starts at a higher
   * key than the one before, so the read terminates.
   */
  Page.Records sortedBy(SortTarget target) {
    List<KeyValue> kvs = new ArrayList<>(Math.min(limit, 1024));
    long bytes = 0;
    boolean more = false;
    while (!more && walk.next()) {
      more = kvs.size() >= limit || (bytes >= maxBytes && !kvs.isEmpty());
      KeyValue kv = RecordOrder.needsKeysOnly(keysOnly, target) ? walk.keyOnly() : walk.record();
      bytes += size(kv);
      kvs.add(kv);
    }
    kvs.sort(RecordOrder.ascending(target));
    Bytes next = null;
    if (more) {
      bytes -= size(kvs.remove(kvs.size() - 1));
      next = kvs.get(kvs.size() - 1).key().successor();
    }
    if (keysOnly && target == SortTarget.VALUE) {
      kvs.replaceAll(KeyValue::withoutValue);
    }
    return new Page.Records(kvs, next, bytes);
  }

  private static long size(KeyValue kv) {
    return (long) kv.key().length() + kv.value().length();
  }
}
