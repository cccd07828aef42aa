package io.troupe.bench.load;

/**
 * How much clients hold open in the profiles about it.
 *
 * @param watchers of the profile idle-memory
 * @param streams watch streams with one watcher each of the profile idle-memory
 * @param leases of the profile idle-memory
 * @param expiring leases that expire together in the profile lease-expiry
 */
public record OpenSizes(int watchers, int streams, int leases, int expiring) {
  /** The default sizes. */
  public static final OpenSizes DEFAULT = new OpenSizes(10_000, 1000, 100_000, 10_000);

  public OpenSizes {
    if (watchers < 1 || streams < 1 || leases < 1 || expiring < 1) {
      throw new IllegalArgumentException("--idle-... and --expiring-leases: 1 or more");
    }
  }
}
