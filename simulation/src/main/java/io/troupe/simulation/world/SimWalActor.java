package io.troupe.simulation.world;

import io.troupe.raft.Outgoing;

/**
 * Forces all waiting writes together, as often as the disk can. A hung disk takes long, and later
 * writes wait.
 */
final class SimWalActor {
  private final MemberRun run;
  private boolean forcing;
  private long stallUs;

  SimWalActor(MemberRun run) {
    this.run = run;
  }

  /** Starts a force if writes wait and none is in progress. */
  void wake() {
    if (forcing || run.disk.unforcedCount() == 0) {
      return;
    }
    forcing = true;
    long takes = 80L + run.random.nextInt(200);
    if (run.random.nextInt(80) == 0) {
      takes += run.random.nextInt(30_000);
    }
    takes += stallUs;
    stallUs = 0;
    // Writes that arrive meanwhile wait for the next force.
    int count = run.disk.unforcedCount();
    run.process.after(takes, () -> forced(count));
  }

  /** Makes the next force hang for this long. */
  void stall(long us) {
    stallUs = us;
  }

  private void forced(int count) {
    forcing = false;
    long number = 0;
    for (int i = 0; i < count; i++) {
      SimDisk.Write write = run.disk.force();
      number = write.number();
      if (write.install() != null) {
        run.installed();
      }
      for (Outgoing outgoing : write.messagesAfterPersist()) {
        run.transmit(outgoing.to(), outgoing.message());
      }
    }
    run.durable(number);
    wake();
  }
}
