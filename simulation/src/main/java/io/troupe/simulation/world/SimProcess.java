package io.troupe.simulation.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * One run of a member's process. Its actions wait while it is paused, and are dropped when it is
 * dead. Missed timers are not repeated: a resumed process finds each of its timers due once.
 */
final class SimProcess {
  /** The process was killed inside an action, which goes no further. */
  static final class Killed extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private record Pause(long fromUs, long toUs) {}

  private final Scheduler scheduler;
  private final ArrayDeque<Runnable> held = new ArrayDeque<>();
  private final List<Pause> pauses = new ArrayList<>();
  private boolean alive = true;
  private boolean paused;
  private boolean clockPaused;
  private long pausedAtUs;
  private long clockPausedUs;

  SimProcess(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  boolean isAlive() {
    return alive;
  }

  boolean isPaused() {
    return paused;
  }

  /** Runs an action after a delay, or later if it is paused then; not if it is dead. */
  void after(long delayUs, Runnable action) {
    scheduler.after(delayUs, () -> arrive(action));
  }

  /** Runs an action from outside. */
  void arrive(Runnable action) {
    if (paused && alive) {
      held.addLast(action);
    } else if (alive) {
      run(action);
    }
  }

  private void run(Runnable action) {
    try {
      action.run();
    } catch (Killed killed) {
      if (alive) {
        throw killed;
      }
    }
  }

  void kill() {
    alive = false;
    held.clear();
  }

  /**
   * Pauses the process. With {@code clock} its clock is paused too, as in a paused virtual machine.
   */
  void pause(boolean clock) {
    paused = true;
    clockPaused = clock;
    pausedAtUs = scheduler.nowUs();
  }

  void resume() {
    if (!paused || !alive) {
      return;
    }
    paused = false;
    pauses.add(new Pause(pausedAtUs, scheduler.nowUs()));
    if (clockPaused) {
      clockPausedUs += scheduler.nowUs() - pausedAtUs;
    }
    while (!held.isEmpty() && alive) {
      run(held.removeFirst());
    }
  }

  /** Its monotonic clock, in ms. */
  long clockMs() {
    return clockUs() / 1000;
  }

  /** Its monotonic clock, in ns. */
  long clockNanos() {
    return clockUs() * 1000;
  }

  private long clockUs() {
    return scheduler.nowUs() - clockPausedUs;
  }

  /** Running time since a time; pauses longer than a second do not count. */
  long ranUs(long fromUs) {
    long ran = scheduler.nowUs() - fromUs;
    for (Pause pause : pauses) {
      if (pause.toUs() - pause.fromUs() > 1_000_000) {
        ran -= Math.max(0, pause.toUs() - Math.max(fromUs, pause.fromUs()));
      }
    }
    return ran;
  }
}
