package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The newest records of keys used lately, and which keys are known not to exist; the least recently
 * used go first. Belongs to the writer, who notes every change here, so an entry is never stale.
 */
final class LatestCache {
  /** What the maps and objects of one entry weigh besides its bytes, about. */
  private static final int ENTRY_BYTES = 200;

  /** Stands for a key that does not exist. Known by identity. */
  static final KeyValue ABSENT = new KeyValue(Bytes.EMPTY, 0, 0, 0, Bytes.EMPTY, 0);

  private final LinkedHashMap<Bytes, KeyValue> entries = new LinkedHashMap<>(1024, 0.75f, true);
  private final long maxBytes;
  private long bytes;

  LatestCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** The record, {@link #ABSENT}, or null when nothing is known. */
  @Nullable KeyValue find(Bytes key) {
    return entries.get(key);
  }

  @SuppressWarnings("ReferenceEquality") // the marker is one object
  static boolean isAbsent(KeyValue kv) {
    return kv == ABSENT;
  }

  /** Notes the newest record of its key. */
  void live(KeyValue kv) {
    note(kv.key(), kv);
  }

  /** Notes that the key does not exist. */
  void absent(Bytes key) {
    note(key, ABSENT);
  }

  private void note(Bytes given, KeyValue kv) {
    // A key may be a slice of a whole request: do not keep that alive for a few bytes.
    boolean slice = given.backingArray().length > 2 * given.length() + 64;
    Bytes key = slice ? Bytes.wrap(given.toArray()) : given;
    KeyValue old = entries.put(key, kv);
    bytes += weight(key, kv) - (old == null ? 0 : weight(key, old));
    if (bytes > maxBytes) {
      evict();
    }
  }

  private void evict() {
    Iterator<Map.Entry<Bytes, KeyValue>> eldest = entries.entrySet().iterator();
    while (bytes > maxBytes && eldest.hasNext()) {
      Map.Entry<Bytes, KeyValue> entry = eldest.next();
      bytes -= weight(entry.getKey(), entry.getValue());
      eldest.remove();
    }
  }

  private static long weight(Bytes key, KeyValue kv) {
    return ENTRY_BYTES + 2L * key.length() + kv.value().length();
  }
}
