package io.troupe.persistence.store;

import io.troupe.mvcc.StoreException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts the users of something native, so that it is freed only when nobody is inside. A use after
 * free would not be an exception but the end of the process.
 */
final class OpenGate {
  private static final long CLOSED = 1L << 62;

  private final AtomicLong state = new AtomicLong();

  /**
   * Comes in; pair it with {@link #leave()}.
   *
   * @throws StoreException if the gate is closed
   */
  void enter() {
    if (state.incrementAndGet() >= CLOSED) {
      state.decrementAndGet();
      throw new StoreException("the store is closed");
    }
  }

  void leave() {
    state.decrementAndGet();
  }

  /** True once the gate is closed: whoever is inside shall come out. */
  boolean isShut() {
    return state.get() >= CLOSED;
  }

  /** Closes the gate; false if it was closed already. */
  boolean shut() {
    while (true) {
      long users = state.get();
      if (users >= CLOSED) {
        return false;
      }
      if (state.compareAndSet(users, users + CLOSED)) {
        return true;
      }
    }
  }

  /** Waits until nobody is inside; false if somebody still is when the time is over. */
  boolean awaitEmpty(long timeoutMs) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (state.get() > CLOSED) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      LockSupport.parkNanos(100_000);
    }
    return true;
  }

  /** How many are inside. */
  long users() {
    long users = state.get();
    return users >= CLOSED ? users - CLOSED : users;
  }
}
