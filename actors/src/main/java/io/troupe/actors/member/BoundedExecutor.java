package io.troupe.actors.member;

import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;

/** Refuses work when too much of it waits or runs. Thread-safe. */
final class BoundedExecutor implements Executor {
  private final Executor threads;
  private final Semaphore places;

  /**
   * An idle one.
   *
   * @param places most pieces of work that wait or run, 1 or more
   */
  BoundedExecutor(Executor threads, int places) {
    this.threads = threads;
    this.places = new Semaphore(places);
  }

  /**
   * Runs {@code work} when its turn comes.
   *
   * @throws RefusedException TOO_MANY_REQUESTS if there is no place
   */
  @Override
  public void execute(Runnable work) {
    if (!places.tryAcquire()) {
      throw new RefusedException(Refusal.TOO_MANY_REQUESTS);
    }
    boolean accepted = false;
    try {
      threads.execute(
          () -> {
            try {
              work.run();
            } finally {
              places.release();
            }
          });
      accepted = true;
    } finally {
      if (!accepted) {
        places.release();
      }
    }
  }
}
