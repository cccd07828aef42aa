package io.troupe.mvcc;

import io.troupe.model.Bytes;
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
  private static final int ENTRY_BYTES = 224;

  private static final long BYTES_FOR_MANY_STRIPES = 1 << 20;
  private static final int STRIPES = 32;

  private static final class Stripe {
    final LinkedHashMap<Bytes, NewestRecord> entries = new LinkedHashMap<>(16, 0.75f, true);
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

  /** The record, one that is {@link NewestRecord#isAbsent}, or null if nothing is known. */
  @Nullable NewestRecord find(Bytes key) {
    Stripe stripe = stripe(key);
    synchronized (stripe) {
      return stripe.entries.get(key);
    }
  }

  /** Called by the writer: {@code newest} is in the store, {@code revision} is published next. */
  void committed(NewestRecord newest, long revision) {
    Stripe stripe = stripe(newest.kv().key());
    synchronized (stripe) {
      stripe.changedAt = revision;
      put(stripe, newest);
    }
  }

  /**
   * Called by any reader: {@code newest} is what the store contained at {@code revision}, which was
   * current then.
   */
  void loaded(NewestRecord newest, long revision) {
    Bytes key = newest.kv().key();
    Stripe stripe = stripe(key);
    synchronized (stripe) {
      if (stripe.changedAt <= revision && !stripe.entries.containsKey(key)) {
        put(stripe, newest);
      }
    }
  }

  private void put(Stripe stripe, NewestRecord newest) {
    Bytes key = newest.kv().key();
    NewestRecord old = stripe.entries.remove(key);
    stripe.bytes -= old == null ? 0 : weight(old);
    // One large value must not evict all other entries.
    if (weight(newest) > maxBytesEach / 4) {
      return;
    }
    stripe.entries.put(key, newest);
    stripe.bytes += weight(newest);
    Iterator<NewestRecord> eldest = stripe.entries.values().iterator();
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

  private static long weight(NewestRecord newest) {
    return (long) ENTRY_BYTES + newest.kv().key().length() + newest.kv().value().length();
  }
}
