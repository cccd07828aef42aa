package io.troupe.simulation.world;

import java.util.SplittableRandom;

/** A mailbox: runs messages in order, each after a short random time. */
final class SimActor {
  private final SimProcess process;
  private final Scheduler scheduler;
  private final SplittableRandom random;
  private final boolean slow;
  private long lastAtUs;

  /** With {@code slow} some messages wait for long, as on a machine without free processors. */
  SimActor(SimProcess process, Scheduler scheduler, SplittableRandom random, boolean slow) {
    this.process = process;
    this.scheduler = scheduler;
    this.random = random;
    this.slow = slow;
  }

  void tell(Runnable message) {
    long delay = 1L + random.nextInt(40);
    if (random.nextInt(100) == 0) {
      delay += random.nextInt(slow ? 60_000 : 4_000);
    }
    long at = Math.max(lastAtUs, scheduler.nowUs() + delay);
    lastAtUs = at;
    process.after(at - scheduler.nowUs(), message);
  }
}
