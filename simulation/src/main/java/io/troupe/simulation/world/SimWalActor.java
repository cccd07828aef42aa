package io.troupe.simulation.world;

import io.troupe.raft.Outgoing;

/**
 * Forces what waits for the disk, all of it at once, as often as the disk can. A hung disk takes
 * long, and nothing after it happens before.
 */
final class SimWalActor {
  private final MemberRun run;
  private boolean forcing;
  private long stallUs;

  SimWalActor(MemberRun run) {
    this.run = run;
  }

  /** Something waits. */
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
    // Whatever comes meanwhile waits for the next force.
    int count = run.disk.unforcedCount();
    run.process.after(takes, () -> forced(count));
  }

  /** The next force hangs for this long. */
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
        run.apply.installed(number);
      }
      for (Outgoing outgoing : write.messagesAfterPersist()) {
        run.leave(outgoing.to(), outgoing.message());
      }
    }
    run.durable(number);
    wake();
  }
}
