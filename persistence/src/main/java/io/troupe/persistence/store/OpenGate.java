package io.troupe.persistence.store;

import io.troupe.mvcc.StoreException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts the users of native resources, so that these are freed only when no user is active. A use
 * after free would crash the process instead of throwing an exception.
 */
final class OpenGate {
  private static final long CLOSED = 1L << 62;

  private final AtomicLong state = new AtomicLong();

  /**
   * Registers a user; each call must be paired with {@link #leave()}.
   *
   * @throws StoreException if the gate is closed
   */
  void enter() {
    if (!tryEnter()) {
      throw new StoreException("the store is closed");
    }
  }

  /** Registers a user, unless the gate is closed. */
  boolean tryEnter() {
    if (state.incrementAndGet() >= CLOSED) {
      state.decrementAndGet();
      return false;
    }
    return true;
  }

  void leave() {
    state.decrementAndGet();
  }

  /** True after the gate was closed: active users must leave. */
  boolean isShut() {
    return state.get() >= CLOSED;
  }

  /** Closes the gate; false if it was already closed. */
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

  /** Waits until no user is active; false if one still is when the timeout expires. */
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

  /** Number of active users. */
  long users() {
    long users = state.get();
    return users >= CLOSED ? users - CLOSED : users;
  }
}
