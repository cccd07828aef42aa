package io.troupe.simulation.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * One run of a member's process. What it is to do waits while it is paused, and is dropped when it
 * is dead. Timers are not caught up: a paused process finds each of its timers due once.
 */
final class SimProcess {
  private record Pause(long fromUs, long toUs) {}

  private final Scheduler scheduler;
  private final ArrayDeque<Runnable> held = new ArrayDeque<>();
  private final List<Pause> pauses = new ArrayList<>();
  private boolean alive = true;
  private boolean paused;
  private boolean clockStands;
  private long pausedAtUs;
  private long stoodUs;

  SimProcess(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  boolean isAlive() {
    return alive;
  }

  boolean isPaused() {
    return paused;
  }

  /** Does something after a while, unless it is dead then; later if it is paused then. */
  void after(long delayUs, Runnable action) {
    scheduler.after(delayUs, () -> arrive(action));
  }

  /** Something comes from outside. */
  void arrive(Runnable action) {
    if (paused && alive) {
      held.addLast(action);
    } else if (alive) {
      action.run();
    }
  }

  void kill() {
    alive = false;
    held.clear();
  }

  /** Stops for a while. With {@code clock} its clock is stopped too, as in a stopped machine. */
  void pause(boolean clock) {
    paused = true;
    clockStands = clock;
    pausedAtUs = scheduler.nowUs();
  }

  void resume() {
    if (!paused || !alive) {
      return;
    }
    paused = false;
    pauses.add(new Pause(pausedAtUs, scheduler.nowUs()));
    if (clockStands) {
      stoodUs += scheduler.nowUs() - pausedAtUs;
    }
    while (!held.isEmpty() && alive) {
      held.removeFirst().run();
    }
  }

  /** Its monotonic clock. */
  long clockMs() {
    return (scheduler.nowUs() - stoodUs) / 1000;
  }

  /** How long it ran since a time; pauses longer than a second do not count. */
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
