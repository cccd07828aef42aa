package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.lease.LeaseChange;
import io.troupe.lease.LeaseCore;
import io.troupe.lease.LeaseEffects;
import io.troupe.lease.LeaseProposal;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Runs {@link LeaseCore}, and checks that no lease expires before its time. */
final class SimLeaseActor implements LeaseEffects<Consumer<Answer>> {
  private static final long PROPOSE_TIMEOUT_US = 3_000_000;

  /** TTLs are some seconds here, so the interval of checkpoints is short. */
  private static final LeaseCore.Settings SETTINGS = new LeaseCore.Settings(1000, 700);

  /** The countdown's clock has whole milliseconds. */
  private static final long ROUNDING_US = 2_000;

  private final MemberRun run;
  private final SimActor actor;
  private final LeaseCore<Consumer<Answer>> core;

  /**
   * When the time of a lease last started on this member, by the clock of the world, and its
   * length.
   */
  private record Begun(long atUs, long lengthUs) {}

  private final Map<Long, Begun> begun = new HashMap<>();
  private final Map<Long, Long> ttls = new HashMap<>();

  /** True while replies are sent to renewals whose time started earlier. */
  private boolean ending;

  SimLeaseActor(MemberRun run, List<Lease> granted) {
    this.run = run;
    this.actor = run.actor();
    this.core = new LeaseCore<>(SETTINGS, granted, run::isSoleVoter, this);
  }

  void start() {
    run.process.after(run.random.nextLong(1000 * LeaseCore.CHECK_EVERY_MS), this::check);
  }

  private void check() {
    actor.tell(() -> core.check(run.process.clockMs()));
    run.process.after(1000 * LeaseCore.CHECK_EVERY_MS + run.random.nextInt(2_000), this::check);
  }

  private void startCounting(long lease, long lengthSeconds) {
    begun.put(lease, new Begun(run.world.scheduler().nowUs(), lengthSeconds * 1_000_000));
  }

  // ---- messages

  void keepAlive(long lease, Consumer<Answer> reply) {
    actor.tell(() -> core.keepAlive(lease, reply, run.process.clockMs()));
  }

  /** Receives the reply to a forwarded renewal, with its number. */
  @FunctionalInterface
  interface ForwardedReply {
    void accept(Answer answer, long number);
  }

  /** The caller of a renewal that another member forwards. */
  private record Forwarder(long lease, ForwardedReply reply) implements Consumer<Answer> {
    @Override
    public void accept(Answer answer) {
      reply.accept(answer, 0);
    }
  }

  /** Another member forwards the renewal of a client. */
  void forwarded(long lease, NodeId from, long term, long seen, ForwardedReply reply) {
    Forwarder forwarder = new Forwarder(lease, reply);
    actor.tell(
        () ->
            core.keepAliveAll(List.of(lease), from, term, seen, forwarder, run.process.clockMs()));
  }

  void timeToLive(long lease, Consumer<Answer> reply) {
    actor.tell(() -> core.timeToLive(lease, reply, run.process.clockMs()));
  }

  void changed(List<LeaseChange> changes) {
    actor.tell(
        () -> {
          for (LeaseChange change : changes) {
            if (change instanceof LeaseChange.Granted granted) {
              ttls.put(granted.id(), granted.ttlSeconds());
              startCounting(granted.id(), granted.ttlSeconds());
            }
          }
          core.changed(changes, run.process.clockMs());
        });
  }

  void promoted(List<Lease> leases, long term) {
    actor.tell(
        () -> {
          begun.clear();
          for (Lease lease : leases) {
            ttls.put(lease.id(), lease.ttlSeconds());
            startCounting(lease.id(), lease.countFromSeconds());
          }
          core.promoted(leases, term, run.process.clockMs());
          run.world.coverage().count("leases taken over by a leader", leases.size());
          run.world
              .coverage()
              .count(
                  "leases counted from a checkpoint",
                  leases.stream().filter(lease -> lease.checkpointSeconds() > 0).count());
        });
  }

  void stateCaughtUp(long term) {
    actor.tell(() -> core.stateCaughtUp(term));
  }

  void demoted() {
    actor.tell(core::demoted);
  }

  private void ended(LeaseProposal<Consumer<Answer>> proposal, boolean applied) {
    if (proposal instanceof LeaseProposal.Forget<?> && applied) {
      run.world.coverage().count("checkpoints of leases forgotten");
    }
    ending = true;
    core.proposalEnded(proposal, applied);
    ending = false;
  }

  // ---- effects

  @Override
  public void propose(LeaseProposal<Consumer<Answer>> proposal) {
    if (proposal instanceof LeaseProposal.Revoke<?> revoke) {
      checkExpired(revoke.lease());
      run.world.coverage().count("lease expiries proposed");
    } else if (proposal instanceof LeaseProposal.Checkpoint<?> checkpoint) {
      run.world.coverage().count("checkpoints of leases proposed", checkpoint.leases().size());
    } else if (proposal instanceof LeaseProposal.Forget<?> forget) {
      forget.leases().forEach(each -> startCounting(each, ttls.getOrDefault(each, 0L)));
    }
    Once<Boolean> end = new Once<>(applied -> actor.tell(() -> ended(proposal, applied)));
    run.raft.proposeInTerm(
        proposal.term(),
        proposal.operation(),
        outcome ->
            end.accept(
                outcome instanceof Answer.Done done && !(done.result() instanceof Result.Refused)));
    run.process.after(PROPOSE_TIMEOUT_US, () -> end.accept(false));
  }

  private void checkExpired(long lease) {
    Begun last = begun.getOrDefault(lease, new Begun(0, 0));
    require(
        run.process.ranUs(last.atUs()) + ROUNDING_US >= last.lengthUs(),
        "a lease expired after less time than the member ran",
        run.id,
        lease,
        run.process.ranUs(last.atUs()),
        last);
  }

  @Override
  public void confirmLeadership(long term, NodeId supporter) {
    if (!supporter.isNone()) {
      run.world.coverage().count("leaderships confirmed with a follower's request");
    }
    run.raft.confirmLeadership(
        term,
        supporter,
        new MemberRun.ReadIndexWaiter() {
          @Override
          public void ready(long index) {
            actor.tell(() -> core.leadershipConfirmed(supporter, true, run.process.clockMs()));
          }

          @Override
          public void failed(Refusal reason) {
            actor.tell(() -> core.leadershipConfirmed(supporter, false, run.process.clockMs()));
          }
        });
  }

  @Override
  public void renewed(Consumer<Answer> reply, long id, long ttlSeconds) {
    if (ttlSeconds > 0) {
      run.world.coverage().count("leases renewed");
      if (!ending) {
        startCounting(id, ttlSeconds);
      }
    }
    reply.accept(new Answer.Renewed(ttlSeconds));
  }

  @Override
  public void confirmWaitingLater() {
    run.world.coverage().count("renewals that wait for a follower's request");
    run.process.after(
        1000 * LeaseCore.FOLLOWERS_CONFIRM_WITHIN_MS, () -> actor.tell(core::confirmWaiting));
  }

  @Override
  public void renewedAll(Consumer<Answer> reply, List<Long> ttlSeconds, long number) {
    Forwarder forwarder = (Forwarder) reply;
    long ttl = ttlSeconds.get(0);
    if (ttl > 0) {
      startCounting(forwarder.lease(), ttl);
    }
    boolean known = ttl != NOT_YET;
    run.world.coverage().count(known ? "forwarded renewals" : "forwarded renewals to repeat");
    run.world.coverage().count("numbers for followers", number > 0 ? 1 : 0);
    forwarder
        .reply()
        .accept(known ? new Answer.Renewed(ttl) : new Answer.Refused(Refusal.TIMED_OUT), number);
  }

  @Override
  public void remaining(
      Consumer<Answer> reply, long id, long remainingSeconds, long grantedSeconds) {
    run.world.coverage().count("remaining times of leases reported");
    reply.accept(new Answer.Remaining(remainingSeconds, grantedSeconds));
  }

  @Override
  public void leases(Consumer<Answer> reply, List<Long> ids) {
    throw new IllegalStateException("no client lists leases");
  }

  @Override
  public void failed(Consumer<Answer> reply, Refusal reason) {
    reply.accept(new Answer.Refused(reason));
  }
}
