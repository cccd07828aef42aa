package io.troupe.bench.load;

import java.util.concurrent.TimeUnit;

/**
 * The lease that new event objects share: at most 1000 objects, for at most a minute, like those of
 * an apiserver. One client requests the next lease; until it arrives the others use the last one.
 * Thread-safe.
 */
final class EventLeases {
  /** Events live one hour; the lease is used for a minute. */
  static final long TTL_SECONDS = 3660;

  static final int MAX_OBJECTS = 1000;
  private static final long REUSE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private long lease;
  private long since;
  private int objects;
  private boolean requested;

  /**
   * @param lease the first lease
   */
  EventLeases(long lease, long now) {
    this.lease = lease;
    this.since = now;
  }

  /**
   * The lease for one more object.
   *
   * @return 0: the caller must grant a lease, call {@link #granted} or {@link #failed}, and ask
   *     again
   */
  synchronized long use(long now) {
    if (!requested && (objects >= MAX_OBJECTS || now - since >= REUSE_NANOS)) {
      requested = true;
      return 0;
    }
    objects++;
    return lease;
  }

  /** The server granted a lease. */
  synchronized void granted(long newLease, long now) {
    lease = newLease;
    since = now;
    objects = 0;
    requested = false;
  }

  /** The server did not grant a lease; the next caller of {@link #use} requests one. */
  synchronized void failed() {
    requested = false;
  }
}
