package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.machine.DigestCheck;
import io.troupe.machine.StateMachine;
import io.troupe.model.AlarmType;
import io.troupe.model.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Compares this member's state with the leader's, as the real apply actor does: a leader says its
 * digest every so many entries and once a second, whoever differs stops serving and has the alarm
 * CORRUPT raised for itself.
 */
final class SimDigestActor {
  private static final int EVERY = 64;
  private static final long LOOK_US = 1_000_000;

  private final MemberRun run;
  private DigestCheck check;
  private long leadingTerm;
  private boolean differs;
  private long saidIndex;

  SimDigestActor(MemberRun run, StateMachine machine) {
    this.run = run;
    this.check = begin(machine);
  }

  private DigestCheck begin(StateMachine machine) {
    saidIndex = machine.appliedIndex();
    return new DigestCheck(machine.appliedIndex(), machine.digest());
  }

  void start() {
    run.process.after(run.random.nextLong(LOOK_US), this::look);
  }

  void replaced(StateMachine machine) {
    check = begin(machine);
    differs = false;
  }

  /** In which this member leads; 0 if it does not. */
  void leading(long term) {
    leadingTerm = term;
  }

  /** An entry was applied, the state machine's last. */
  void applied(StateMachine machine) {
    noted(check.applied(machine.appliedIndex(), machine.digest()));
  }

  /** A batch is written. */
  void committed() {
    differs &= !isAlarmed();
    if (check.index() - saidIndex >= EVERY) {
      say();
    }
  }

  void heard(long index, long digest) {
    run.world.coverage().count("digests compared");
    noted(check.compare(index, digest));
  }

  /** True while this member must not serve. */
  boolean isCorrupt() {
    return differs || isAlarmed();
  }

  private boolean isAlarmed() {
    return run.apply.machine().view().isAlarmed(run.id, AlarmType.CORRUPT);
  }

  private void look() {
    say();
    raise();
    run.process.after(LOOK_US, this::look);
  }

  private void raise() {
    if (differs) {
      run.propose(new Operation.AlarmActivate(run.id, AlarmType.CORRUPT), answer -> {});
    }
  }

  private void say() {
    saidIndex = check.index();
    if (leadingTerm != 0 && !isCorrupt()) {
      run.world.sayDigest(run.id, leadingTerm, check.index(), check.digest());
    }
  }

  private void noted(DigestCheck.@Nullable Difference difference) {
    if (difference == null || isCorrupt()) {
      return;
    }
    require(
        run.world.rules().isDamaged(), "digests differ, nobody was damaged", run.id, difference);
    run.world.trace().note(run.id, "differs", difference);
    run.world.coverage().count("differences noticed");
    differs = true;
    raise();
  }
}
