package io.troupe.simulation.world;

import java.util.SplittableRandom;

/** A mailbox: runs messages in order, each after a short random time. */
final class SimActor {
  private final SimProcess process;
  private final Scheduler scheduler;
  private final SplittableRandom random;
  private final boolean slow;

  /** One of this number of messages waits longer than the others. */
  private final int delayedOneOf;

  private long lastAtUs;
  private long lastSentUs;

  /** Messages of this actor that wait for their time; one may be due now and not sent yet. */
  private int unsent;

  /**
   * With {@code slow} some messages wait for long, as on a machine without free processors. Some
   * actors lag behind the other actors of their member.
   */
  SimActor(SimProcess process, Scheduler scheduler, SplittableRandom random, boolean slow) {
    this.process = process;
    this.scheduler = scheduler;
    this.random = random;
    this.slow = slow;
    this.delayedOneOf = random.nextInt(6) == 0 ? 10 : 100;
  }

  void tell(Runnable message) {
    long delay = 1L + random.nextInt(40);
    if (random.nextInt(delayedOneOf) == 0) {
      delay += random.nextInt(slow && delayedOneOf == 100 ? 60_000 : 6_000);
    }
    long at = Math.max(lastAtUs, scheduler.nowUs() + delay);
    lastAtUs = at;
    process.after(at - scheduler.nowUs(), message);
  }

  /**
   * Sends a message from inside this actor, after all earlier ones. The thread of the actor may be
   * suspended between two of them.
   */
  void send(Runnable message) {
    long delay = random.nextInt(delayedOneOf) == 0 ? random.nextInt(4_000) : 0;
    long at = Math.max(lastSentUs, scheduler.nowUs() + delay);
    lastSentUs = at;
    if (at == scheduler.nowUs() && unsent == 0) {
      message.run();
      return;
    }
    unsent++;
    process.after(
        at - scheduler.nowUs(),
        () -> {
          unsent--;
          message.run();
        });
  }
}
