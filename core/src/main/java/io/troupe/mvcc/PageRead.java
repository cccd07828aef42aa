package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.RangeQuery.SortTarget;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads one chunk of a long read (GS4, GS7) over one walk. Revisions are checked by the caller, who
 * also closes the walk.
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
   * @param walk over what is left of the range, before its first key
   * @param limit most records, 1 or more
   * @param maxBytes no further record once keys and values come to this; one is always taken
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
   * GS7: the record that tells "more" takes part in the sort, as in a Range with a limit (G8), and
   * the next chunk begins behind the key that sorted last. It always begins further on, so the
   * chunks come to an end.
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
