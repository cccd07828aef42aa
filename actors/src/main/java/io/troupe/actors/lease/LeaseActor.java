package io.troupe.actors.lease;

import io.troupe.lease.LeaseCore;
import io.troupe.lease.LeaseEffects;
import io.troupe.lease.LeaseProposal;
import io.troupe.metrics.ApplyMetrics;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.ReplyTo;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.raft.Proposal;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs {@link LeaseCore}: turns messages into inputs and effects into messages, and decides
 * nothing.
 */
public final class LeaseActor extends AbstractBehavior<LeaseCommand>
    implements LeaseEffects<ReplyTo<LeaseReply>> {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseActor.class);
  private static final Duration PROPOSE_TIMEOUT = Duration.ofSeconds(3);

  private enum Check implements LeaseCommand.Private {
    INSTANCE
  }

  private record ProposalEnded(LeaseProposal<ReplyTo<LeaseReply>> proposal, boolean applied)
      implements LeaseCommand.Private {}

  private record Confirmed(NodeId supporter, ReadReply reply) implements LeaseCommand.Private {}

  private enum ConfirmWaiting implements LeaseCommand.Private {
    INSTANCE
  }

  private final ActorRef<RaftCommand> raft;
  private final TimerScheduler<LeaseCommand> timers;
  private final RequestIds ids;
  private final Settings settings;
  private final ApplyMetrics metrics;
  private final LeaseCore<ReplyTo<LeaseReply>> core;

  private LeaseActor(
      ActorContext<LeaseCommand> context,
      TimerScheduler<LeaseCommand> timers,
      ActorRef<RaftCommand> raft,
      RequestIds ids,
      Settings settings,
      List<Lease> granted,
      BooleanSupplier soleVoter,
      ApplyMetrics metrics) {
    super(context);
    this.raft = raft;
    this.timers = timers;
    this.ids = ids;
    this.settings = settings;
    this.metrics = metrics;
    this.core =
        new LeaseCore<>(
            new LeaseCore.Settings(
                settings.electionTimeout().toMillis(), settings.checkpointEvery().toMillis()),
            granted,
            soleVoter,
            this);
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
   * @param granted the leases of the state before the apply actor starts
   * @param soleVoter true only while no other member can lead; then no quorum round is needed
   * @param metrics counts expired leases
   */
  public static Behavior<LeaseCommand> create(
      ActorRef<RaftCommand> raft,
      RequestIds ids,
      Settings settings,
      List<Lease> granted,
      BooleanSupplier soleVoter,
      ApplyMetrics metrics) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> {
                  timers.startTimerWithFixedDelay(
                      Check.INSTANCE, Duration.ofMillis(LeaseCore.CHECK_EVERY_MS));
                  return new LeaseActor(
                      context, timers, raft, ids, settings, granted, soleVoter, metrics);
                }));
  }

  @Override
  public Receive<LeaseCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(
            LeaseCommand.KeepAlive.class,
            m -> feed(() -> core.keepAlive(m.id(), m.replyTo(), nowMs())))
        .onMessage(LeaseCommand.KeepAliveAll.class, m -> feed(() -> keepAliveAll(m)))
        .onMessage(
            LeaseCommand.TimeToLive.class,
            m -> feed(() -> core.timeToLive(m.id(), m.replyTo(), nowMs())))
        .onMessage(LeaseCommand.ListLeases.class, m -> feed(() -> core.listLeases(m.replyTo())))
        .onMessage(LeaseCommand.Changed.class, m -> feed(() -> core.changed(m.changes(), nowMs())))
        .onMessage(LeaseCommand.Promoted.class, this::onPromoted)
        .onMessage(LeaseCommand.StateCaughtUp.class, m -> feed(() -> core.stateCaughtUp(m.term())))
        .onMessageEquals(LeaseCommand.Demoted.INSTANCE, () -> feed(core::demoted))
        .onMessageEquals(Check.INSTANCE, () -> feed(() -> core.check(nowMs())))
        .onMessage(ProposalEnded.class, this::onProposalEnded)
        .onMessage(
            Confirmed.class,
            m ->
                feed(
                    () ->
                        core.leadershipConfirmed(
                            m.supporter(), m.reply() instanceof ReadReply.Ready, nowMs())))
        .onMessageEquals(ConfirmWaiting.INSTANCE, () -> feed(core::confirmWaiting))
        .build();
  }

  private Behavior<LeaseCommand> feed(Runnable input) {
    input.run();
    return this;
  }

  private void keepAliveAll(LeaseCommand.KeepAliveAll all) {
    PeerQuery.RenewQuery query = all.query();
    core.keepAliveAll(
        query.leases(), all.from(), query.term(), query.seen(), all.replyTo(), nowMs());
  }

  private static long nowMs() {
    return System.nanoTime() / 1_000_000;
  }

  private Behavior<LeaseCommand> onPromoted(LeaseCommand.Promoted promoted) {
    core.promoted(promoted.leases(), promoted.term(), nowMs());
    if (!promoted.leases().isEmpty()) {
      LOG.info("counting leases leases={}", promoted.leases().size());
    }
    return this;
  }

  private Behavior<LeaseCommand> onProposalEnded(ProposalEnded ended) {
    if (ended.proposal() instanceof LeaseProposal.Revoke<?> revoke) {
      if (ended.applied()) {
        metrics.leaseExpired();
      }
      LOG.debug("revoke of expired lease ended lease={}", Long.toHexString(revoke.lease()));
    } else if (ended.proposal() instanceof LeaseProposal.Forget<?> forget && !ended.applied()) {
      LOG.debug(
          "failed to delete checkpoints of renewed leases renewals={}", forget.leases().size());
    } else if (!ended.applied()) {
      LOG.warn("failed to replicate remaining times of leases, retrying at the next checkpoint");
    }
    core.proposalEnded(ended.proposal(), ended.applied());
    return this;
  }

  @Override
  public void propose(LeaseProposal<ReplyTo<LeaseReply>> made) {
    RequestId id = ids.next();
    Operation operation = made.operation();
    boolean priority = settings.priorityRevokes() && operation instanceof Operation.LeaseRevoke;
    Proposal proposal = new Proposal(id, OperationCodec.encode(id, operation), priority, null);
    getContext()
        .ask(
            ProposeReply.class,
            raft,
            PROPOSE_TIMEOUT,
            replyTo -> new RaftCommand.ProposeInTerm(made.term(), proposal, replyTo::tell),
            (reply, failure) -> new ProposalEnded(made, isApplied(reply)));
  }

  private static boolean isApplied(@Nullable ProposeReply reply) {
    return reply instanceof ProposeReply.Applied applied
        && !(applied.result() instanceof Result.Refused);
  }

  @Override
  public void confirmLeadership(long term, NodeId supporter) {
    ActorRef<LeaseCommand> self = getContext().getSelf();
    raft.tell(
        new RaftCommand.ConfirmLeadership(
            term, supporter, reply -> self.tell(new Confirmed(supporter, reply))));
  }

  @Override
  public void confirmWaitingLater() {
    timers.startSingleTimer(
        ConfirmWaiting.INSTANCE, Duration.ofMillis(LeaseCore.FOLLOWERS_CONFIRM_WITHIN_MS));
  }

  @Override
  public void renewed(ReplyTo<LeaseReply> replyTo, long id, long ttlSeconds) {
    replyTo.tell(new LeaseReply.Renewed(id, ttlSeconds));
  }

  @Override
  public void renewedAll(ReplyTo<LeaseReply> replyTo, List<Long> ttlSeconds, long number) {
    replyTo.tell(new LeaseReply.RenewedAll(new PeerReply.Renewed(ttlSeconds, number)));
  }

  @Override
  public void remaining(
      ReplyTo<LeaseReply> replyTo, long id, long remainingSeconds, long grantedSeconds) {
    replyTo.tell(new LeaseReply.Remaining(id, remainingSeconds, grantedSeconds));
  }

  @Override
  public void leases(ReplyTo<LeaseReply> replyTo, List<Long> ids) {
    replyTo.tell(new LeaseReply.Leases(ids));
  }

  @Override
  public void failed(ReplyTo<LeaseReply> replyTo, Refusal reason) {
    replyTo.tell(new LeaseReply.Failed(reason));
  }
}
