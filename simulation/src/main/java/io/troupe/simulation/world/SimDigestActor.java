package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.machine.DigestCheck;
import io.troupe.machine.DivergenceDetector;
import io.troupe.machine.DivergenceEffects;
import io.troupe.machine.StateMachine;
import io.troupe.model.AlarmType;
import io.troupe.model.Operation;

/**
 * Runs {@link DivergenceDetector}, and checks that no member finds a difference unless a member was
 * damaged.
 */
final class SimDigestActor implements DivergenceEffects {
  private static final int EVERY = 64;
  private static final long CHECK_INTERVAL_US = 1_000_000;

  private final MemberRun run;
  private final StateMachine machine;
  private final DivergenceDetector detector;

  SimDigestActor(MemberRun run, StateMachine machine) {
    this.run = run;
    this.machine = machine;
    this.detector =
        new DivergenceDetector(run.id, EVERY, machine.appliedIndex(), machine.digest(), this);
    detector.committed(isAlarmed());
  }

  private boolean isAlarmed() {
    return machine.view().isAlarmed(run.id, AlarmType.CORRUPT);
  }

  void leading(long term) {
    detector.leading(term);
  }

  void applied() {
    detector.applied(machine.appliedIndex(), machine.digest());
  }

  void committed() {
    detector.committed(isAlarmed());
  }

  void check() {
    detector.check();
  }

  void compare(long index, long digest) {
    run.world.coverage().count("digests compared");
    detector.compare(index, digest);
  }

  boolean isCorrupt() {
    return detector.isCorrupt();
  }

  @Override
  public void publishDigest(long term, long index, long digest) {
    run.world.publishDigest(run.id, term, index, digest);
  }

  @Override
  public void raiseAlarm(Operation.AlarmActivate alarm) {
    run.propose(alarm, outcome -> {});
  }

  @Override
  public void differs(DigestCheck.Difference difference) {
    require(
        run.world.rules().isDamaged(),
        "digests differ, but no member was damaged",
        run.id,
        difference);
    run.world.trace().note(run.id, "differs", difference);
    run.world.coverage().count("differences detected");
  }

  @Override
  public void corruptChanged(boolean corrupt, boolean alarmed) {
    run.world.trace().note(run.id, corrupt ? "is corrupt" : "serves again", alarmed);
  }
}
