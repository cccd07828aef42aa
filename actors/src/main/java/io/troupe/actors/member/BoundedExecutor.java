package io.troupe.actors.member;

import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;

/** Refuses tasks when too many of them wait or run. Thread-safe. */
final class BoundedExecutor implements Executor {
  private final Executor threads;
  private final Semaphore places;

  /**
   * Runs tasks on {@code threads}.
   *
   * @param places maximum number of tasks that wait or run, 1 or more
   */
  BoundedExecutor(Executor threads, int places) {
    this.threads = threads;
    this.places = new Semaphore(places);
  }

  /**
   * Runs {@code work} when the executor reaches it.
   *
   * @throws RefusedException TOO_MANY_REQUESTS if all places are taken
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
