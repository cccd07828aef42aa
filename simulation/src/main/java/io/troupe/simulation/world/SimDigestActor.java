package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.machine.DigestCheck;
import io.troupe.machine.StateMachine;
import io.troupe.model.AlarmType;
import io.troupe.model.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Compares this member's state with the leader's, as the real apply actor does. A leader publishes
 * its digest at fixed numbers of entries and once a second. A member with a different digest stops
 * serving and raises the alarm CORRUPT for itself.
 */
final class SimDigestActor {
  private static final int EVERY = 64;
  private static final long CHECK_INTERVAL_US = 1_000_000;

  private final MemberRun run;
  private DigestCheck check;
  private long leadingTerm;
  private boolean differs;
  private long publishedIndex;

  SimDigestActor(MemberRun run, StateMachine machine) {
    this.run = run;
    this.check = begin(machine);
  }

  private DigestCheck begin(StateMachine machine) {
    publishedIndex = machine.appliedIndex();
    return new DigestCheck(machine.appliedIndex(), machine.digest());
  }

  void start() {
    run.process.after(run.random.nextLong(CHECK_INTERVAL_US), this::onInterval);
  }

  void replaced(StateMachine machine) {
    check = begin(machine);
    differs = false;
  }

  /** Sets the term in which this member leads; 0 if it does not lead. */
  void leading(long term) {
    leadingTerm = term;
  }

  /** The state machine applied an entry. */
  void applied(StateMachine machine) {
    onDifference(check.applied(machine.appliedIndex(), machine.digest()));
  }

  /** A batch was written. */
  void committed() {
    differs &= !isAlarmed();
    if (check.index() - publishedIndex >= EVERY) {
      publishDigest();
    }
  }

  void compare(long index, long digest) {
    run.world.coverage().count("digests compared");
    onDifference(check.compare(index, digest));
  }

  /** True while this member must not serve. */
  boolean isCorrupt() {
    return differs || isAlarmed();
  }

  private boolean isAlarmed() {
    return run.apply.machine().view().isAlarmed(run.id, AlarmType.CORRUPT);
  }

  private void onInterval() {
    publishDigest();
    raise();
    run.process.after(CHECK_INTERVAL_US, this::onInterval);
  }

  private void raise() {
    if (differs) {
      run.propose(new Operation.AlarmActivate(run.id, AlarmType.CORRUPT), outcome -> {});
    }
  }

  private void publishDigest() {
    publishedIndex = check.index();
    if (leadingTerm != 0 && !isCorrupt()) {
      run.world.publishDigest(run.id, leadingTerm, check.index(), check.digest());
    }
  }

  private void onDifference(DigestCheck.@Nullable Difference difference) {
    if (difference == null || isCorrupt()) {
      return;
    }
    require(
        run.world.rules().isDamaged(),
        "digests differ, but no member was damaged",
        run.id,
        difference);
    run.world.trace().note(run.id, "differs", difference);
    run.world.coverage().count("differences detected");
    differs = true;
    raise();
  }
}
