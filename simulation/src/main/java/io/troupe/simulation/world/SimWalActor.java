package io.troupe.simulation.world;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.raft.Outgoing;
import io.troupe.raft.WalCore;
import io.troupe.raft.WalEffects;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@link WalCore}. A forced write blocks the actor, so later messages wait in its mailbox. A
 * hung disk takes long.
 */
final class SimWalActor implements WalEffects {
  private final MemberRun run;
  private final SimActor actor;
  private final WalCore core = new WalCore(this);
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private boolean blocked;
  private long stallUs;

  /** The snapshot that is being installed. */
  private SimDisk.@Nullable Snapshot installing;

  SimWalActor(MemberRun run) {
    this.run = run;
    this.actor = run.actor();
  }

  /** Makes the next force hang for this long. */
  void stall(long us) {
    stallUs = us;
  }

  // ---- messages

  void append(long number, HardState state, List<Entry> entries, List<Outgoing> messages) {
    tell(() -> core.append(number, state, entries, messages));
  }

  void install(HardState before, HardState state, SimDisk.Snapshot snapshot) {
    tell(
        () ->
            block(
                () -> {
                  installing = snapshot;
                  core.install(before, state, snapshot.mark().index());
                }));
  }

  /** Removes the log up to an index that snapshots cover. */
  void dropUpTo(long index) {
    tell(() -> run.disk.compact(index));
  }

  private void tell(Runnable message) {
    actor.tell(
        () -> {
          waiting.addLast(message);
          work();
        });
  }

  private void work() {
    while (!blocked && !waiting.isEmpty()) {
      waiting.removeFirst().run();
    }
  }

  /** Runs an action that takes as long as a forced write. */
  private void block(Runnable action) {
    long takes = 80L + run.random.nextInt(200);
    if (run.random.nextInt(80) == 0) {
      takes += run.random.nextInt(30_000);
    }
    takes += stallUs;
    stallUs = 0;
    blocked = true;
    run.process.after(
        takes,
        () -> {
          blocked = false;
          action.run();
          work();
        });
  }

  // ---- effects

  @Override
  public void flushLater() {
    tell(() -> block(core::flush));
  }

  @Override
  public void write(HardState state, List<Entry> entries) {
    run.disk.write(state, entries);
    stepDone();
  }

  @Override
  public void restartAfter(long index) {
    SimDisk.Snapshot snapshot = installing;
    if (snapshot == null || snapshot.mark().index() != index) {
      throw new IllegalStateException("the log restarts without a snapshot at " + index);
    }
    run.disk.restartAfter(snapshot);
    stepDone();
  }

  @Override
  public void sync() {
    run.disk.force();
    stepDone();
  }

  private void stepDone() {
    if (installing != null) {
      run.world.member(run.id).installs();
    }
  }

  @Override
  public void durable(long number) {
    run.raft.durable(number);
  }

  @Override
  public void send(Outgoing message) {
    run.transmit(message.to(), message.message());
  }

  @Override
  public void installed() {
    run.installed();
  }
}
