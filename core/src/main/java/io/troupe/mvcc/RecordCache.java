package io.troupe.mvcc;

import io.troupe.model.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * Newest committed records of recently used keys, also of keys that do not exist; bounded in bytes,
 * records that were not used for long are evicted first. Thread-safe.
 *
 * <p>An entry is never older than the published revision: the writer adds every change after it is
 * in the store and before it publishes the revision. A record that a reader loaded from the store
 * is accepted only if its part of the cache was not changed since the revision at which it was
 * read. So an entry whose revision is not above R is what a read at R returns, for every published
 * R.
 */
final class RecordCache {
  private static final long BYTES_FOR_MANY_STRIPES = 1 << 20;
  private static final int STRIPES = 32;
  private static final long MOST_STRIPE_BYTES = 1 << 30;

  private static final class Stripe {
    final RecordRing records;
    long changedAt;

    Stripe(int maxBytes) {
      this.records = new RecordRing(maxBytes);
    }
  }

  private final Stripe[] stripes;

  /** Creates a cache of at most {@code maxBytes}; 0 disables it. */
  RecordCache(long maxBytes) {
    this.stripes = new Stripe[maxBytes < BYTES_FOR_MANY_STRIPES ? 1 : STRIPES];
    int each = (int) Math.min(MOST_STRIPE_BYTES, maxBytes / stripes.length);
    for (int i = 0; i < stripes.length; i++) {
      stripes[i] = new Stripe(each);
    }
  }

  /** The record, one that is {@link NewestRecord#isAbsent}, or null if nothing is known. */
  @Nullable NewestRecord find(Bytes key) {
    Stripe stripe = stripe(key);
    synchronized (stripe) {
      return stripe.records.find(key);
    }
  }

  /** Called by the writer: {@code newest} is in the store, {@code revision} is published next. */
  void committed(NewestRecord newest, long revision) {
    Stripe stripe = stripe(newest.kv().key());
    synchronized (stripe) {
      stripe.changedAt = revision;
      stripe.records.put(newest);
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
      if (stripe.changedAt <= revision && !stripe.records.contains(key)) {
        stripe.records.put(newest);
      }
    }
  }

  private Stripe stripe(Bytes key) {
    int mixed = key.hashCode() * 0x9e3779b9;
    return stripes[(mixed >>> 16) & (stripes.length - 1)];
  }
}
