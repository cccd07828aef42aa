package io.troupe.actors.lease;

import io.troupe.lease.LeaseCountdown;
import io.troupe.lease.PauseAwareClock;
import io.troupe.machine.LeaseChange;
import io.troupe.metrics.ApplyMetrics;
import io.troupe.model.Lease;
import io.troupe.model.Operation;
import io.troupe.model.Operation.LeaseCheckpoint.Remaining;
import io.troupe.model.Refusal;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.RequestIds;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts leases down while this member leads (L4, L5, L10). Deletes nothing itself: it proposes the
 * revoke of an expired lease, and the entry deletes the lease on every member. If checkpoints are
 * enabled, it proposes the remaining times of long leases from time to time for the next leader
 * (L12).
 */
public final class LeaseActor extends AbstractBehavior<LeaseCommand> {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseActor.class);

  /** Interval of the expiry check (L10). */
  private static final Duration CHECK_EVERY = Duration.ofMillis(500);

  /**
   * A longer time between two readings of the clock is a pause and is not counted. It must be well
   * below the shortest TTL less the time between two renewals (2 s, less a third to a half of it).
   * Otherwise a pause that still counts expires leases whose renewals are in the mailbox.
   */
  private static final Duration MAX_GAP = CHECK_EVERY.plus(CHECK_EVERY);

  /** Leases in one checkpoint entry (L12). One such entry is in flight. */
  private static final int CHECKPOINTS_PER_ENTRY = 1000;

  private static final int EXPIRED_PER_CHECK = 500;
  private static final int REVOKES_IN_FLIGHT = 16;

  private enum Check implements LeaseCommand.Private {
    INSTANCE
  }

  private record RevokeEnded(long lease, boolean applied) implements LeaseCommand.Private {}

  private record CheckpointEnded(boolean applied) implements LeaseCommand.Private {}

  private record ForgetEnded(long term, List<LeaseCommand.KeepAlive> renewals, boolean applied)
      implements LeaseCommand.Private {}

  private record Confirmed(ReadReply reply) implements LeaseCommand.Private {}

  private final Settings settings;
  private final BooleanSupplier soleVoter;
  private final ApplyMetrics metrics;
  private final RenewalBatcher rounds;
  private final TermProposals proposals;
  private final LeaseCountdown countdown;
  private final PauseAwareClock time = new PauseAwareClock(MAX_GAP.toMillis());
  private final Map<Long, Long> ttls = new HashMap<>();
  private final Map<Long, List<ActorRef<LeaseReply>>> ending = new HashMap<>();
  private final ArrayDeque<Long> due = new ArrayDeque<>();
  private int inFlight;
  private boolean checkpointing;
  private boolean leading;

  /**
   * Whether the state contains all entries of earlier terms. Until then the state may lack a grant,
   * or the deletion of a checkpoint for a renewal. So no lease expires, and no client gets the
   * reply that its lease is unknown.
   */
  private boolean caughtUp;

  private long term;

  private LeaseActor(
      ActorContext<LeaseCommand> context,
      ActorRef<RaftCommand> raft,
      RequestIds ids,
      Settings settings,
      BooleanSupplier soleVoter,
      ApplyMetrics metrics) {
    super(context);
    this.metrics = metrics;
    this.soleVoter = soleVoter;
    this.rounds = new RenewalBatcher(raft, context.messageAdapter(ReadReply.class, Confirmed::new));
    this.proposals =
        new TermProposals(
            context,
            raft,
            ids,
            operation -> settings.priorityRevokes() && operation instanceof Operation.LeaseRevoke);
    this.settings = settings;
    this.countdown = new LeaseCountdown(settings.checkpointEvery().toMillis());
  }

  /**
   * Settings of the actor.
   *
   * @param electionTimeout extends every lease when the leader changes (L11)
   * @param checkpointEvery L12; zero disables checkpoints
   * @param priorityRevokes whether revokes may wait when other proposals may not (Q6)
   */
  public record Settings(
      Duration electionTimeout, Duration checkpointEvery, boolean priorityRevokes) {}

  /**
   * The behavior of the actor.
   *
   * @param soleVoter true only while no other member can lead; then no quorum round is needed
   * @param metrics counts expired leases
   */
  public static Behavior<LeaseCommand> create(
      ActorRef<RaftCommand> raft,
      RequestIds ids,
      Settings settings,
      BooleanSupplier soleVoter,
      ApplyMetrics metrics) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> {
                  timers.startTimerWithFixedDelay(Check.INSTANCE, CHECK_EVERY);
                  return new LeaseActor(context, raft, ids, settings, soleVoter, metrics);
                }));
  }

  @Override
  public Receive<LeaseCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(LeaseCommand.KeepAlive.class, this::onKeepAlive)
        .onMessage(LeaseCommand.TimeToLive.class, this::onTimeToLive)
        .onMessage(LeaseCommand.ListLeases.class, this::onListLeases)
        .onMessage(LeaseCommand.Changed.class, this::onChanged)
        .onMessage(LeaseCommand.Promoted.class, this::onPromoted)
        .onMessage(LeaseCommand.StateCaughtUp.class, this::onStateCaughtUp)
        .onMessageEquals(LeaseCommand.Demoted.INSTANCE, this::onDemoted)
        .onMessageEquals(Check.INSTANCE, this::onCheck)
        .onMessage(RevokeEnded.class, this::onRevokeEnded)
        .onMessage(CheckpointEnded.class, this::onCheckpointEnded)
        .onMessage(ForgetEnded.class, this::onForgetEnded)
        .onMessage(Confirmed.class, this::onConfirmed)
        .build();
  }

  private void passTime() {
    countdown.advance(time.elapsedMs(System.nanoTime() / 1_000_000));
  }

  private Behavior<LeaseCommand> onKeepAlive(LeaseCommand.KeepAlive renew) {
    if (!leading) {
      renew.replyTo().tell(new LeaseReply.Failed(Refusal.NO_LEADER));
      return this;
    }
    if (caughtUp && soleVoter.getAsBoolean()) {
      renewAll(List.of(renew));
    } else {
      rounds.add(renew, term);
    }
    return this;
  }

  /**
   * A later leader gives a lease its full time from a later moment than this, so the owner may rely
   * on the renewal (docs/decisions/0041).
   */
  private Behavior<LeaseCommand> onConfirmed(Confirmed confirmed) {
    renewAll(rounds.confirmed(confirmed.reply(), leading ? term : 0));
    rounds.open(term);
    return this;
  }

  private void renewAll(List<LeaseCommand.KeepAlive> round) {
    passTime();
    List<LeaseCommand.KeepAlive> checkpointed = new ArrayList<>(0);
    for (LeaseCommand.KeepAlive renewal : round) {
      long id = renewal.id();
      switch (countdown.renew(id)) {
        case RENEWED -> sendRenewed(renewal);
        case UNKNOWN -> renewal.replyTo().tell(new LeaseReply.Renewed(id, 0));
        case CHECKPOINTED -> checkpointed.add(renewal);
        // It must not be renewed again: the reply waits for its revoke.
        case EXPIRED ->
            ending.computeIfAbsent(id, lease -> new ArrayList<>()).add(renewal.replyTo());
      }
    }
    for (int from = 0; from < checkpointed.size(); from += CHECKPOINTS_PER_ENTRY) {
      int to = Math.min(from + CHECKPOINTS_PER_ENTRY, checkpointed.size());
      forget(List.copyOf(checkpointed.subList(from, to)));
    }
  }

  /** Replies with the granted TTL, or with 0 if the lease has ended meanwhile. */
  private void sendRenewed(LeaseCommand.KeepAlive renewal) {
    renewal
        .replyTo()
        .tell(new LeaseReply.Renewed(renewal.id(), ttls.getOrDefault(renewal.id(), 0L)));
  }

  /**
   * A later leader would count from the checkpoint, so the owner gets its reply when the checkpoint
   * is deleted.
   */
  private void forget(List<LeaseCommand.KeepAlive> renewals) {
    List<Remaining> none =
        renewals.stream().map(renewal -> new Remaining(renewal.id(), 0)).distinct().toList();
    long proposedIn = term;
    proposals.propose(
        term,
        new Operation.LeaseCheckpoint(none),
        applied -> new ForgetEnded(proposedIn, renewals, applied));
  }

  private Behavior<LeaseCommand> onForgetEnded(ForgetEnded ended) {
    if (!leading || term != ended.term()) {
      RenewalBatcher.fail(ended.renewals());
      return this;
    }
    ended.renewals().forEach(renewal -> countdown.forgotten(renewal.id(), ended.applied()));
    if (ended.applied()) {
      ended.renewals().forEach(this::sendRenewed);
    } else {
      LOG.debug(
          "failed to delete checkpoints of renewed leases renewals={}", ended.renewals().size());
      RenewalBatcher.fail(ended.renewals());
    }
    return this;
  }

  private Behavior<LeaseCommand> onTimeToLive(LeaseCommand.TimeToLive ask) {
    if (!leading || !caughtUp) {
      ask.replyTo().tell(new LeaseReply.Failed(Refusal.NO_LEADER));
      return this;
    }
    passTime();
    OptionalLong leftMs = countdown.remainingMs(ask.id());
    ask.replyTo()
        .tell(
            leftMs.isEmpty()
                ? new LeaseReply.Remaining(ask.id(), -1, 0)
                : new LeaseReply.Remaining(
                    ask.id(), leftMs.getAsLong() / 1000, ttls.getOrDefault(ask.id(), 0L)));
    return this;
  }

  private Behavior<LeaseCommand> onListLeases(LeaseCommand.ListLeases ask) {
    ask.replyTo()
        .tell(
            new LeaseReply.Leases(
                leading ? countdown.idsByRemaining() : List.copyOf(ttls.keySet())));
    return this;
  }

  private Behavior<LeaseCommand> onChanged(LeaseCommand.Changed changed) {
    passTime();
    for (LeaseChange change : changed.changes()) {
      if (change instanceof LeaseChange.Granted granted) {
        ttls.put(granted.id(), granted.ttlSeconds());
        if (leading) {
          countdown.granted(granted.id(), granted.ttlSeconds());
        }
      } else if (change instanceof LeaseChange.Revoked revoked) {
        ttls.remove(revoked.id());
        countdown.revoked(revoked.id());
        sendEnded(revoked.id());
      } else if (change instanceof LeaseChange.Checkpointed checkpointed && leading) {
        countdown.checkpointed(checkpointed.id(), checkpointed.remainingSeconds());
      }
    }
    return this;
  }

  private void sendEnded(long lease) {
    List<ActorRef<LeaseReply>> waiting = ending.remove(lease);
    if (waiting != null) {
      waiting.forEach(replyTo -> replyTo.tell(new LeaseReply.Renewed(lease, 0)));
    }
  }

  private Behavior<LeaseCommand> onPromoted(LeaseCommand.Promoted promoted) {
    passTime();
    dropWaiting();
    leading = true;
    caughtUp = false;
    term = promoted.term();
    ttls.clear();
    for (Lease lease : promoted.leases()) {
      ttls.put(lease.id(), lease.ttlSeconds());
    }
    countdown.promote(promoted.leases(), settings.electionTimeout().toMillis());
    if (!promoted.leases().isEmpty()) {
      LOG.info("counting leases leases={}", promoted.leases().size());
    }
    return this;
  }

  private Behavior<LeaseCommand> onStateCaughtUp(LeaseCommand.StateCaughtUp message) {
    caughtUp |= leading && term == message.term();
    return this;
  }

  private Behavior<LeaseCommand> onDemoted() {
    leading = false;
    countdown.demote();
    dropWaiting();
    return this;
  }

  /** Fails the callers that wait for a reply of an ended leadership. */
  private void dropWaiting() {
    rounds.abandon();
    due.clear();
    ending
        .values()
        .forEach(
            waiting ->
                waiting.forEach(
                    replyTo -> replyTo.tell(new LeaseReply.Failed(Refusal.LEADER_CHANGED))));
    ending.clear();
  }

  private Behavior<LeaseCommand> onCheck() {
    passTime();
    if (leading && caughtUp) {
      due.addAll(
          countdown.takeExpired(EXPIRED_PER_CHECK - Math.min(EXPIRED_PER_CHECK, due.size())));
      revokeNext();
      checkpointNext();
    }
    return this;
  }

  private void checkpointNext() {
    if (checkpointing) {
      return;
    }
    List<Remaining> leases = countdown.takeCheckpoints(CHECKPOINTS_PER_ENTRY);
    if (!leases.isEmpty()) {
      checkpointing = true;
      proposals.propose(term, new Operation.LeaseCheckpoint(leases), CheckpointEnded::new);
    }
  }

  private Behavior<LeaseCommand> onCheckpointEnded(CheckpointEnded ended) {
    checkpointing = false;
    if (!ended.applied()) {
      LOG.warn("failed to replicate remaining times of leases, retrying at the next checkpoint");
    } else if (leading) {
      checkpointNext();
    }
    return this;
  }

  private void revokeNext() {
    while (inFlight < REVOKES_IN_FLIGHT && !due.isEmpty()) {
      revoke(due.removeFirst());
    }
  }

  private void revoke(long lease) {
    inFlight++;
    proposals.propose(
        term, new Operation.LeaseRevoke(lease), applied -> new RevokeEnded(lease, applied));
  }

  /**
   * Whatever the result: a lease that still exists expires again and is returned again after its
   * time (L10).
   */
  private Behavior<LeaseCommand> onRevokeEnded(RevokeEnded ended) {
    inFlight--;
    if (ended.applied()) {
      metrics.leaseExpired();
    }
    LOG.debug("revoke of expired lease ended lease={}", Long.toHexString(ended.lease()));
    revokeNext();
    return this;
  }
}
