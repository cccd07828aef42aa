package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import java.util.Iterator;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Newest committed records of recently used keys, also of keys that do not exist; bounded in bytes,
 * least recently used records are evicted first. Thread-safe.
 *
 * <p>An entry is never older than the published revision: the writer adds every change after it is
 * in the store and before it publishes the revision. A record that a reader loaded from the store
 * is accepted only if its part of the cache was not changed since the revision at which it was
 * read. So an entry whose revision is not above R is what a read at R returns, for every published
 * R.
 */
final class RecordCache {
  /** Approximate overhead of one entry in addition to its bytes. */
  private static final int ENTRY_BYTES = 200;

  private static final long BYTES_FOR_MANY_STRIPES = 1 << 20;
  private static final int STRIPES = 32;

  private static final class Stripe {
    final LinkedHashMap<Bytes, KeyValue> entries = new LinkedHashMap<>(16, 0.75f, true);
    long bytes;
    long changedAt;
  }

  private final Stripe[] stripes;
  private final long maxBytesEach;

  /** Creates a cache of at most {@code maxBytes}; 0 disables it. */
  RecordCache(long maxBytes) {
    this.stripes = new Stripe[maxBytes < BYTES_FOR_MANY_STRIPES ? 1 : STRIPES];
    for (int i = 0; i < stripes.length; i++) {
      stripes[i] = new Stripe();
    }
    this.maxBytesEach = maxBytes / stripes.length;
  }

  /** Placeholder for a key that does not exist since {@code revision} or before. */
  static KeyValue absent(Bytes key, long revision) {
    return new KeyValue(key, 0, revision, 0, Bytes.EMPTY, 0);
  }

  static boolean isAbsent(KeyValue kv) {
    return kv.version() == 0;
  }

  /** The record, a record that {@link #isAbsent}, or null if nothing is known. */
  @Nullable KeyValue find(Bytes key) {
    Stripe stripe = stripe(key);
    synchronized (stripe) {
      return stripe.entries.get(key);
    }
  }

  /** Called by the writer: {@code kv} is in the store, {@code revision} is published next. */
  void committed(KeyValue kv, long revision) {
    Stripe stripe = stripe(kv.key());
    synchronized (stripe) {
      stripe.changedAt = revision;
      put(stripe, kv);
    }
  }

  /**
   * Called by any reader: {@code kv} is what the store contained at {@code revision}, which was
   * current then.
   */
  void loaded(KeyValue kv, long revision) {
    Stripe stripe = stripe(kv.key());
    synchronized (stripe) {
      if (stripe.changedAt <= revision && !stripe.entries.containsKey(kv.key())) {
        put(stripe, kv);
      }
    }
  }

  private void put(Stripe stripe, KeyValue kv) {
    KeyValue old = stripe.entries.remove(kv.key());
    stripe.bytes -= old == null ? 0 : weight(old);
    // One large value must not evict all other entries.
    if (weight(kv) > maxBytesEach / 4) {
      return;
    }
    stripe.entries.put(kv.key(), kv);
    stripe.bytes += weight(kv);
    Iterator<KeyValue> eldest = stripe.entries.values().iterator();
    while (stripe.bytes > maxBytesEach) {
      stripe.bytes -= weight(eldest.next());
      eldest.remove();
    }
  }

  private Stripe stripe(Bytes key) {
    // The map uses the low bits: the keys of a stripe must not have equal low bits.
    int mixed = key.hashCode() * 0x9e3779b9;
    return stripes[(mixed >>> 16) & (stripes.length - 1)];
  }

  private static long weight(KeyValue kv) {
    return (long) ENTRY_BYTES + kv.key().length() + kv.value().length();
  }
}
