package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.lease.LeaseCountdown;
import io.troupe.lease.PauseAwareClock;
import io.troupe.machine.LeaseChange;
import io.troupe.model.Lease;
import io.troupe.model.Operation;
import io.troupe.model.Operation.LeaseCheckpoint.Remaining;
import io.troupe.model.Refusal;
import io.troupe.simulation.history.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Counts leases down while this member leads. A renewal gets its reply only after the leadership
 * was confirmed since its arrival: an old leader must not extend a lease that a new leader would
 * expire earlier.
 */
final class SimLeaseActor {
  private static final long CHECK_US = 500_000;
  private static final long MAX_GAP_MS = 1000;
  private static final long ELECTION_MS = 1000;
  private static final int EXPIRED_PER_CHECK = 500;

  /** TTLs are some seconds here, so this is long. */
  private static final long CHECKPOINT_MS = 700;

  /** The countdown's clock has whole milliseconds. */
  private static final long ROUNDING_US = 2_000;

  private final MemberRun run;
  private final SimActor actor;
  private final LeaseCountdown countdown = new LeaseCountdown(CHECKPOINT_MS);
  private final PauseAwareClock time = new PauseAwareClock(MAX_GAP_MS);
  private final Map<Long, Long> ttls = new HashMap<>();
  private final TreeMap<Long, List<Consumer<Answer>>> ending = new TreeMap<>();

  /**
   * When the time of a lease last started on this member, by the clock of the world, and its
   * length.
   */
  private record Begun(long atUs, long lengthUs) {}

  private final Map<Long, Begun> begun = new HashMap<>();

  private boolean leading;
  private boolean caughtUp;
  private long term;

  SimLeaseActor(MemberRun run) {
    this.run = run;
    this.actor = run.actor();
  }

  void start() {
    run.process.after(run.random.nextLong(CHECK_US), this::check);
  }

  private void passTime() {
    countdown.advance(time.elapsedMs(run.process.clockMs()));
  }

  // ---- messages

  void keepAlive(long lease, Consumer<Answer> reply) {
    actor.tell(
        () -> {
          if (!leading) {
            reply.accept(new Answer.Refused(Refusal.NO_LEADER));
            return;
          }
          run.readIndex(
              new MemberRun.ReadIndexWaiter() {
                @Override
                public void ready(long index) {
                  actor.tell(() -> renew(lease, reply));
                }

                @Override
                public void failed(Refusal reason) {
                  reply.accept(new Answer.Refused(reason));
                }
              });
        });
  }

  private void renew(long lease, Consumer<Answer> reply) {
    if (!leading) {
      reply.accept(new Answer.Refused(Refusal.NO_LEADER));
      return;
    }
    passTime();
    switch (countdown.renew(lease)) {
      case RENEWED -> {
        startCounting(lease, ttls.getOrDefault(lease, 0L));
        run.world.coverage().count("leases renewed");
        reply.accept(new Answer.Renewed(ttls.getOrDefault(lease, 0L)));
      }
      case CHECKPOINTED -> forget(lease, reply);
      case UNKNOWN -> reply.accept(new Answer.Renewed(0));
      case EXPIRED -> ending.computeIfAbsent(lease, id -> new ArrayList<>()).add(reply);
    }
  }

  private void startCounting(long lease, long lengthSeconds) {
    begun.put(lease, new Begun(run.world.scheduler().nowUs(), lengthSeconds * 1_000_000));
  }

  /**
   * The owner gets its reply when the checkpoint, from which a later leader would count, is
   * deleted.
   */
  private void forget(long lease, Consumer<Answer> reply) {
    long askedIn = term;
    startCounting(lease, ttls.getOrDefault(lease, 0L));
    run.proposeInTerm(
        term,
        new Operation.LeaseCheckpoint(List.of(new Remaining(lease, 0))),
        outcome ->
            actor.tell(
                () -> {
                  if (!leading || askedIn != term) {
                    reply.accept(lost());
                    return;
                  }
                  boolean applied = outcome instanceof Answer.Done;
                  countdown.forgotten(lease, applied);
                  run.world.coverage().count("checkpoints of leases forgotten", applied ? 1 : 0);
                  reply.accept(applied ? new Answer.Renewed(ttls.getOrDefault(lease, 0L)) : lost());
                }));
  }

  void changed(List<LeaseChange> changes) {
    actor.tell(
        () -> {
          passTime();
          changes.forEach(this::changed);
        });
  }

  private void changed(LeaseChange change) {
    if (change instanceof LeaseChange.Granted granted) {
      ttls.put(granted.id(), granted.ttlSeconds());
      if (leading) {
        countdown.granted(granted.id(), granted.ttlSeconds());
        startCounting(granted.id(), granted.ttlSeconds());
      }
    } else if (change instanceof LeaseChange.Revoked revoked) {
      ttls.remove(revoked.id());
      countdown.revoked(revoked.id());
      List<Consumer<Answer>> waiting = ending.remove(revoked.id());
      if (waiting != null) {
        waiting.forEach(reply -> reply.accept(new Answer.Renewed(0)));
      }
    } else if (change instanceof LeaseChange.Checkpointed checkpointed && leading) {
      countdown.checkpointed(checkpointed.id(), checkpointed.remainingSeconds());
    }
  }

  void promoted(List<Lease> leases, long leadsIn) {
    actor.tell(
        () -> {
          passTime();
          leading = true;
          caughtUp = false;
          term = leadsIn;
          note(leases);
          countdown.promote(leases, ELECTION_MS);
          begun.clear();
          leases.forEach(lease -> startCounting(lease.id(), lease.countFromSeconds()));
          run.world.coverage().count("leases taken over by a leader", leases.size());
          run.world
              .coverage()
              .count(
                  "leases counted from a checkpoint",
                  leases.stream().filter(lease -> lease.checkpointSeconds() > 0).count());
        });
  }

  /** The state includes all entries that were committed before this member led. */
  void stateCaughtUp(long inTerm) {
    actor.tell(() -> caughtUp |= leading && term == inTerm);
  }

  private void note(List<Lease> leases) {
    ttls.clear();
    leases.forEach(lease -> ttls.put(lease.id(), lease.ttlSeconds()));
  }

  void demoted() {
    actor.tell(
        () -> {
          leading = false;
          countdown.demote();
          ending.values().forEach(w -> w.forEach(r -> r.accept(lost())));
          ending.clear();
        });
  }

  private static Answer lost() {
    return new Answer.Refused(Refusal.LEADER_CHANGED);
  }

  /** A snapshot replaced the leases; a member that receives one does not lead. */
  void replaced(List<Lease> leases) {
    actor.tell(() -> note(leases));
  }

  private void check() {
    passTime();
    if (leading && caughtUp) {
      for (long lease : countdown.takeExpired(EXPIRED_PER_CHECK)) {
        Begun last = begun.getOrDefault(lease, new Begun(0, 0));
        require(
            run.process.ranUs(last.atUs()) + ROUNDING_US >= last.lengthUs(),
            "a lease expired after less time than the member ran",
            run.id,
            lease,
            run.process.ranUs(last.atUs()),
            last);
        run.world.coverage().count("lease expiries proposed");
        run.proposeInTerm(term, new Operation.LeaseRevoke(lease), outcome -> {});
      }
      checkpoint();
    }
    run.process.after(CHECK_US + run.random.nextInt(2_000), this::check);
  }

  private void checkpoint() {
    List<Remaining> leases = countdown.takeCheckpoints(EXPIRED_PER_CHECK);
    if (!leases.isEmpty()) {
      run.world.coverage().count("checkpoints of leases proposed", leases.size());
      run.proposeInTerm(term, new Operation.LeaseCheckpoint(leases), outcome -> {});
    }
  }
}
