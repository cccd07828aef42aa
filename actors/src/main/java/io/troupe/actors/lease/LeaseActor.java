package io.troupe.actors.lease;

import io.troupe.lease.LeaseCountdown;
import io.troupe.lease.VouchedTime;
import io.troupe.machine.LeaseChange;
import io.troupe.metrics.ApplyMetrics;
import io.troupe.model.Lease;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.codec.OperationCodec;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts leases down while this member leads (L4, L5, L10). Deletes nothing: what has run out is
 * proposed as a revoke, and the entry does the rest on every member alike.
 */
public final class LeaseActor extends AbstractBehavior<LeaseCommand> {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseActor.class);

  /** L10: looked at this often, so many at a time, so many revokes under way. */
  private static final Duration CHECK_EVERY = Duration.ofMillis(500);

  /**
   * A longer time between two readings of the clock is a pause and counts nothing. It must be well
   * below the shortest time to live less the time between two renewals (2 s and a third to a half
   * of it), or a pause that still counts ends leases whose renewals wait unread.
   */
  private static final Duration MAX_GAP = CHECK_EVERY.plus(CHECK_EVERY);

  private static final Duration REVOKE_TIMEOUT = Duration.ofSeconds(3);
  private static final int EXPIRED_PER_CHECK = 500;
  private static final int REVOKES_IN_FLIGHT = 16;

  private enum Check implements LeaseCommand.Private {
    INSTANCE
  }

  private record RevokeEnded(long lease, boolean applied) implements LeaseCommand.Private {}

  private record Confirmed(ReadReply reply) implements LeaseCommand.Private {}

  private final ActorRef<RaftCommand> raft;
  private final RequestIds ids;
  private final Duration electionTimeout;
  private final BooleanSupplier soleVoter;
  private final ApplyMetrics metrics;
  private final ActorRef<ReadReply> confirmations;
  private final LeaseCountdown countdown = new LeaseCountdown();
  private final VouchedTime time = new VouchedTime(MAX_GAP.toMillis());
  private final Map<Long, Long> ttls = new HashMap<>();
  private final Map<Long, List<ActorRef<LeaseReply>>> ending = new HashMap<>();
  private final ArrayDeque<Long> due = new ArrayDeque<>();
  private int inFlight;
  private boolean leading;
  private long term;

  /** Renewals that came since the round under way began; they take the next one. */
  private List<LeaseCommand.KeepAlive> waiting = new ArrayList<>();

  /** Renewals of the round under way, if there is one. */
  private List<LeaseCommand.KeepAlive> confirming = List.of();

  private long confirmingTerm;
  private boolean roundOpen;

  private LeaseActor(
      ActorContext<LeaseCommand> context,
      ActorRef<RaftCommand> raft,
      RequestIds ids,
      Duration electionTimeout,
      BooleanSupplier soleVoter,
      ApplyMetrics metrics) {
    super(context);
    this.metrics = metrics;
    this.soleVoter = soleVoter;
    this.confirmations = context.messageAdapter(ReadReply.class, Confirmed::new);
    this.raft = raft;
    this.ids = ids;
    this.electionTimeout = electionTimeout;
  }

  /**
   * The room's behaviour.
   *
   * @param soleVoter true only while nobody else can lead; then nobody has to be asked
   * @param metrics expired leases are counted there
   */
  public static Behavior<LeaseCommand> create(
      ActorRef<RaftCommand> raft,
      RequestIds ids,
      Duration electionTimeout,
      BooleanSupplier soleVoter,
      ApplyMetrics metrics) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> {
                  timers.startTimerWithFixedDelay(Check.INSTANCE, CHECK_EVERY);
                  return new LeaseActor(context, raft, ids, electionTimeout, soleVoter, metrics);
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
        .onMessageEquals(LeaseCommand.Demoted.INSTANCE, this::onDemoted)
        .onMessageEquals(Check.INSTANCE, this::onCheck)
        .onMessage(RevokeEnded.class, this::onRevokeEnded)
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
    if (soleVoter.getAsBoolean()) {
      passTime();
      renew(renew);
      return this;
    }
    waiting.add(renew);
    openRound();
    return this;
  }

  /**
   * One round serves all that came before it. It is always answered, and the next one waits for
   * that, so an answer is never taken for another's.
   */
  private void openRound() {
    if (roundOpen || waiting.isEmpty()) {
      return;
    }
    roundOpen = true;
    confirming = waiting;
    confirmingTerm = term;
    waiting = new ArrayList<>();
    raft.tell(new RaftCommand.ConfirmLeadership(term, confirmations));
  }

  /**
   * A later leader gives a lease its full time from a later moment than this, so the owner may
   * believe in the renewal (docs/decisions/0041).
   */
  private Behavior<LeaseCommand> onConfirmed(Confirmed confirmed) {
    List<LeaseCommand.KeepAlive> round = confirming;
    roundOpen = false;
    confirming = List.of();
    if (leading && term == confirmingTerm && confirmed.reply() instanceof ReadReply.Ready) {
      passTime();
      round.forEach(this::renew);
    } else {
      fail(round);
    }
    openRound();
    return this;
  }

  private static void fail(List<LeaseCommand.KeepAlive> renewals) {
    LeaseReply lost = new LeaseReply.Failed(Refusal.LEADER_CHANGED);
    renewals.forEach(renewal -> renewal.replyTo().tell(lost));
  }

  private void renew(LeaseCommand.KeepAlive renew) {
    long id = renew.id();
    switch (countdown.renew(id)) {
      case RENEWED -> renew.replyTo().tell(new LeaseReply.Renewed(id, ttls.getOrDefault(id, 0L)));
      case UNKNOWN -> renew.replyTo().tell(new LeaseReply.Renewed(id, 0));
      // It must not seem alive once more: the answer waits for its revoke.
      case EXPIRED -> ending.computeIfAbsent(id, lease -> new ArrayList<>()).add(renew.replyTo());
    }
  }

  private Behavior<LeaseCommand> onTimeToLive(LeaseCommand.TimeToLive ask) {
    if (!leading) {
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
        answerEnded(revoked.id());
      }
    }
    return this;
  }

  private void answerEnded(long lease) {
    List<ActorRef<LeaseReply>> waiting = ending.remove(lease);
    if (waiting != null) {
      waiting.forEach(replyTo -> replyTo.tell(new LeaseReply.Renewed(lease, 0)));
    }
  }

  private Behavior<LeaseCommand> onPromoted(LeaseCommand.Promoted promoted) {
    passTime();
    dropWaiting();
    leading = true;
    term = promoted.term();
    ttls.clear();
    for (Lease lease : promoted.leases()) {
      ttls.put(lease.id(), lease.ttlSeconds());
    }
    countdown.promote(promoted.leases(), electionTimeout.toMillis());
    if (!promoted.leases().isEmpty()) {
      LOG.info("counting leases leases={}", promoted.leases().size());
    }
    return this;
  }

  private Behavior<LeaseCommand> onDemoted() {
    leading = false;
    countdown.demote();
    dropWaiting();
    return this;
  }

  /** Whoever waits for what an ended leadership would have said. */
  private void dropWaiting() {
    fail(waiting);
    waiting.clear();
    fail(confirming);
    confirming = List.of();
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
    if (leading) {
      due.addAll(
          countdown.takeExpired(EXPIRED_PER_CHECK - Math.min(EXPIRED_PER_CHECK, due.size())));
      revokeNext();
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
    RequestId id = ids.next();
    getContext()
        .ask(
            ProposeReply.class,
            raft,
            REVOKE_TIMEOUT,
            replyTo ->
                new RaftCommand.ProposeInTerm(
                    term, id, OperationCodec.encode(id, new Operation.LeaseRevoke(lease)), replyTo),
            (reply, failure) -> new RevokeEnded(lease, isApplied(reply)));
  }

  private static boolean isApplied(@Nullable ProposeReply reply) {
    return reply instanceof ProposeReply.Applied applied
        && !(applied.result() instanceof Result.Refused);
  }

  /**
   * However it ended: what is still there runs out again and is named again after its time (L10).
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
