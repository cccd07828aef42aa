package io.troupe.actors.raft;

import io.troupe.metrics.RaftMetrics;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.protocol.PeerTransport;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.ReplicationReply;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.TransferReply;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.ConfProposal;
import io.troupe.raft.Outgoing;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.ProposalBatcher;
import io.troupe.raft.RaftCore;
import io.troupe.raft.RaftEffects;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.RaftState;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.Membership;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs {@link RaftCore}: turns messages into inputs and effects into messages, and decides nothing.
 * Proposals that wait in the mailbox together become one batch and so one record in the log.
 */
public final class RaftRoleActor extends AbstractBehavior<RaftCommand>
    implements RaftEffects, ProposalBatcher.Effects<ApplyCommand.Expectation> {
  private static final Logger LOG = LoggerFactory.getLogger(RaftRoleActor.class);

  private enum Tick implements RaftCommand.Private {
    INSTANCE
  }

  private enum Flush implements RaftCommand.Private {
    INSTANCE
  }

  private enum End implements RaftCommand.Private {
    INSTANCE
  }

  private enum FlushDelayedAppends implements RaftCommand.Private {
    INSTANCE
  }

  /**
   * How long entries may wait for the reply to the previous ones. Members on a fast network reply
   * sooner; on a slow network the wait would be a round trip.
   */
  private static final Duration APPEND_DELAY = Duration.ofMillis(5);

  /** Maximum number of messages that are stashed before {@link Begin}; further ones are refused. */
  static final int BEFORE_BEGIN = 1000;

  /**
   * Time between the removal of this member and its stop, so that the other members receive the
   * entry that removes it.
   */
  private static final Duration REMOVAL_DELAY = Duration.ofSeconds(1);

  /**
   * Where this actor sends the effects of the core.
   *
   * @param status receives the core's status whenever it may have changed
   * @param membership receives each membership that takes effect
   * @param removed runs once, a second after this member learned that it was removed; must stop the
   *     process
   * @param traces whether traces of other members' proposals are wanted
   * @param metrics counts late heartbeats
   */
  public record Links(
      ActorRef<WalCommand> wal,
      ActorRef<ApplyCommand> apply,
      ActorRef<SnapshotCommand> snapshot,
      PeerTransport peers,
      Consumer<RaftStatus> status,
      Consumer<Membership> membership,
      Runnable removed,
      ForwardedTraces traces,
      RaftMetrics metrics) {}

  /**
   * Starts the actor. Sent once, as the first message, because the other actors need this actor's
   * reference before the links exist.
   */
  public record Begin(Links links) implements RaftCommand.Private {}

  private final RaftCore core;
  private final Links links;
  private final ProposalBatcher<ApplyCommand.Expectation> proposals = new ProposalBatcher<>(this);
  private final Map<Long, ActorRef<ReadReply>> reads = new HashMap<>();
  private long nextReadId;
  private final TimerScheduler<RaftCommand> timers;
  private final PendingTransfers transfers = new PendingTransfers();
  private final LeaderChangeLogger leaderLogger;

  /** Term in which this member leads, as last sent to the apply actor; 0 if it does not lead. */
  private long leadingTerm;

  private final TickSchedule ticks;
  private final LateHeartbeatDetector heartbeats;
  private final long electionNanos;

  /** Time of the last input. */
  private long ranNanos;

  private boolean installing;
  private boolean flushScheduled;

  private RaftRoleActor(
      ActorContext<RaftCommand> context,
      TimerScheduler<RaftCommand> timers,
      RaftState recovered,
      RaftSettings settings,
      Duration tick,
      RandomGenerator jitter,
      Links links) {
    super(context);
    this.timers = timers;
    this.links = links;
    this.leaderLogger = new LeaderChangeLogger(recovered.self());
    this.ticks = new TickSchedule(tick, System.nanoTime());
    this.heartbeats = new LateHeartbeatDetector(settings.heartbeatTicks(), tick);
    this.electionNanos = settings.electionTicks() * tick.toNanos();
    this.ranNanos = System.nanoTime();
    this.core = new RaftCore(recovered, settings, jitter, this);
  }

  /**
   * The behavior of the actor.
   *
   * @param tick length of a tick
   */
  public static Behavior<RaftCommand> create(
      RaftState recovered, RaftSettings settings, Duration tick, RandomGenerator jitter) {
    return Behaviors.withStash(
        BEFORE_BEGIN,
        stash ->
            Behaviors.receive(RaftCommand.class)
                .onMessage(
                    Begin.class,
                    begin ->
                        Behaviors.setup(
                            context ->
                                Behaviors.withTimers(
                                    timers -> {
                                      timers.startSingleTimer(Tick.INSTANCE, tick);
                                      RaftRoleActor actor =
                                          new RaftRoleActor(
                                              context,
                                              timers,
                                              recovered,
                                              settings,
                                              tick,
                                              jitter,
                                              begin.links());
                                      return stash.unstashAll(actor.feed(actor.core::start));
                                    })))
                .onAnyMessage(
                    early -> {
                      if (stash.isFull()) {
                        UnavailableRaftBehavior.refuse(early);
                      } else {
                        stash.stash(early);
                      }
                      return Behaviors.same();
                    })
                .build());
  }

  @Override
  public Receive<RaftCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(RaftCommand.Propose.class, this::onPropose)
        .onMessageEquals(Flush.INSTANCE, this::onFlush)
        .onMessage(RaftCommand.Durable.class, m -> feed(() -> core.persisted(m.number())))
        .onMessage(RaftCommand.Applied.class, m -> feed(() -> core.applied(m.index())))
        .onMessage(RaftCommand.ReadIndex.class, this::onReadIndex)
        .onMessage(RaftCommand.ConfirmLeadership.class, this::onConfirmLeadership)
        .onMessage(RaftCommand.ProposeInTerm.class, this::onProposeInTerm)
        .onMessage(RaftCommand.FromPeer.class, this::onFromPeer)
        .onMessage(RaftCommand.PeerDigest.class, this::onPeerDigest)
        .onMessage(RaftCommand.ProposeConfChange.class, this::onProposeConfChange)
        .onMessage(RaftCommand.TransferLeadership.class, this::onTransferLeadership)
        .onMessage(RaftCommand.HandOver.class, this::onHandOver)
        .onMessage(RaftCommand.GetReplication.class, this::onGetReplication)
        .onMessage(
            RaftCommand.LogRead.class, m -> feed(() -> core.logRead(m.to(), m.from(), m.entries())))
        .onMessage(
            RaftCommand.SnapshotSent.class,
            m -> feed(() -> core.snapshotSent(m.to(), m.transfer(), m.index(), m.ok())))
        .onMessage(RaftCommand.SnapshotReceived.class, this::onSnapshotReceived)
        .onMessageEquals(End.INSTANCE, this::onEnd)
        .onMessage(RaftCommand.SnapshotTaken.class, m -> feed(() -> core.compactLog(m.index())))
        .onMessageEquals(Tick.INSTANCE, this::onTick)
        .onMessageEquals(FlushDelayedAppends.INSTANCE, this::onFlushDelayedAppends)
        .build();
  }

  private Behavior<RaftCommand> onTick() {
    long now = System.nanoTime();
    timers.startSingleTimer(Tick.INSTANCE, ticks.untilNext(now));
    boolean late = leadingTerm != 0 && heartbeats.isLate(now);
    Behavior<RaftCommand> next = feed(core::tick);
    ReplicationStatus replication = late ? core.replication() : null;
    // A leader that steps down at this tick sends no heartbeats.
    if (replication != null) {
      links.metrics().heartbeatsLate(replication.peers().size());
    }
    return next;
  }

  private Behavior<RaftCommand> feed(Runnable input) {
    long now = System.nanoTime();
    long idleNanos = now - ranNanos;
    ranNanos = now;
    // Ticks are far more frequent.
    if (idleNanos > electionNanos) {
      LOG.warn(
          "process was paused, a leader confirms its term before it proposes took={}",
          Duration.ofNanos(idleNanos));
      core.resumed();
    }
    input.run();
    links.status().accept(core.status());
    if (!flushScheduled && core.hasDelayedAppends()) {
      flushScheduled = true;
      timers.startSingleTimer(FlushDelayedAppends.INSTANCE, APPEND_DELAY);
    }
    return installing ? refusing() : this;
  }

  private Behavior<RaftCommand> onFlushDelayedAppends() {
    flushScheduled = false;
    return feed(core::flushDelayedAppends);
  }

  /**
   * A snapshot replaces log and state, and the actors stop as soon as it is durable. Until then the
   * effects of this core on its old state must not reach the other actors. To the cluster this
   * member seems to be down for a short time.
   */
  private Behavior<RaftCommand> refusing() {
    for (ApplyCommand.Expectation waiting : proposals.drop()) {
      waiting.replyTo().tell(new ProposeReply.NotProposed(Refusal.NO_LEADER));
    }
    reads.values().forEach(read -> read.tell(new ReadReply.Failed(Refusal.NO_LEADER)));
    transfers.refuseAll(Refusal.NOT_LEADER);
    return UnavailableRaftBehavior.create();
  }

  private Behavior<RaftCommand> onPropose(RaftCommand.Propose propose) {
    Proposal proposal = propose.proposal();
    proposals.add(
        proposal,
        new ApplyCommand.Expectation(proposal.id(), propose.replyTo(), propose.response()));
    return this;
  }

  private Behavior<RaftCommand> onFlush() {
    return feed(proposals::flush);
  }

  @Override
  public void flushLater() {
    getContext().getSelf().tell(Flush.INSTANCE);
  }

  @Override
  public void propose(List<Proposal> batch) {
    core.propose(batch);
  }

  /** Sent before any of these proposals can be applied or refused. */
  @Override
  public void expect(List<ApplyCommand.Expectation> waiting) {
    links.apply().tell(new ApplyCommand.Expect(waiting, core.status().term(), System.nanoTime()));
  }

  private Behavior<RaftCommand> onProposeInTerm(RaftCommand.ProposeInTerm propose) {
    if (!leadsIn(propose.term())) {
      propose.replyTo().tell(new ProposeReply.NotProposed(Refusal.NOT_LEADER));
      return this;
    }
    Proposal proposal = propose.proposal();
    return feed(
        () ->
            proposals.proposeNow(
                proposal, new ApplyCommand.Expectation(proposal.id(), propose.replyTo())));
  }

  private boolean leadsIn(long term) {
    return core.status().leadsIn(term);
  }

  /** A read of the leader itself: the core refuses it as soon as this member stops leading. */
  private Behavior<RaftCommand> onConfirmLeadership(RaftCommand.ConfirmLeadership confirm) {
    if (!leadsIn(confirm.term())) {
      confirm.replyTo().tell(new ReadReply.Failed(Refusal.NOT_LEADER));
      return this;
    }
    return read(confirm.replyTo());
  }

  private Behavior<RaftCommand> onProposeConfChange(RaftCommand.ProposeConfChange propose) {
    ConfProposal proposal = propose.proposal();
    expect(List.of(new ApplyCommand.Expectation(proposal.id(), propose.replyTo())));
    return feed(() -> core.proposeConfChange(proposal));
  }

  private Behavior<RaftCommand> onTransferLeadership(RaftCommand.TransferLeadership transfer) {
    if (core.status().leader().equals(transfer.to())) {
      transfer.replyTo().tell(TransferReply.Done.INSTANCE);
      return this;
    }
    transfers.add(transfer.to(), transfer.replyTo());
    return feed(() -> core.transferLeadership(transfer.to()));
  }

  private Behavior<RaftCommand> onHandOver(RaftCommand.HandOver handOver) {
    ReplicationStatus replication = core.replication();
    if (replication == null) {
      handOver.replyTo().tell(TransferReply.Done.INSTANCE);
      return this;
    }
    boolean alone =
        replication.peers().values().stream().noneMatch(peer -> peer.connectedTicks() > 0);
    if (alone) {
      handOver.replyTo().tell(new TransferReply.Refused(Refusal.BAD_LEADER_TRANSFEREE));
      return this;
    }
    transfers.addForAny(handOver.replyTo());
    return feed(core::handOver);
  }

  private Behavior<RaftCommand> onGetReplication(RaftCommand.GetReplication get) {
    get.replyTo().tell(new ReplicationReply(core.replication()));
    return this;
  }

  private Behavior<RaftCommand> onFromPeer(RaftCommand.FromPeer m) {
    Behavior<RaftCommand> next = receive(m);
    m.handled().run();
    return next;
  }

  private Behavior<RaftCommand> receive(RaftCommand.FromPeer m) {
    if (m.message() instanceof PeerMessage.InstallSnapshot) {
      // Only the snapshot actor sends this message, when the content is on this disk.
      LOG.warn("dropped snapshot without content remote-peer-id={}", m.from());
      return this;
    }
    if (m.message() instanceof PeerMessage.ForwardedProposals forwarded
        && links.traces().isWanted()
        && forwarded.isTraced()
        && leadsIn(forwarded.term())) {
      // Sent before any of these proposals can be applied. Proposals that the core rejects are
      // dropped by the next sweeps.
      links.apply().tell(new ApplyCommand.Trace(forwarded.proposals(), System.nanoTime()));
    }
    return feed(() -> core.receive(m.from(), m.message()));
  }

  /**
   * A member that follows a leader in its term applies the same entries. The digest of any other
   * sender is ignored.
   */
  private Behavior<RaftCommand> onPeerDigest(RaftCommand.PeerDigest said) {
    if (core.status().follows(said.from(), said.digest().term())) {
      links.apply().tell(new ApplyCommand.LeaderDigest(said.digest(), said.handled()));
    } else {
      said.handled().run();
    }
    return this;
  }

  private Behavior<RaftCommand> onSnapshotReceived(RaftCommand.SnapshotReceived received) {
    return feed(
        () ->
            core.receive(
                received.from(),
                new PeerMessage.InstallSnapshot(received.term(), received.mark())));
  }

  private Behavior<RaftCommand> onEnd() {
    links.removed().run();
    return this;
  }

  private Behavior<RaftCommand> onReadIndex(RaftCommand.ReadIndex read) {
    return read(read.replyTo());
  }

  private Behavior<RaftCommand> read(ActorRef<ReadReply> replyTo) {
    long id = ++nextReadId;
    reads.put(id, replyTo);
    return feed(() -> core.requestRead(id));
  }

  @Override
  public void persist(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist) {
    links.wal().tell(new WalCommand.Append(number, state, entries, messagesAfterPersist));
  }

  @Override
  public void installSnapshot(
      long number,
      HardState before,
      HardState state,
      SnapshotMark mark,
      List<Outgoing> messagesAfterPersist) {
    // The messages are dropped when the actors stop: the leader sends its requests again, and the
    // next run replies from the new log.
    LOG.info(
        "installing snapshot snapshot-index={} snapshot-term={} write={} dropped-messages={}",
        mark.index(),
        mark.term(),
        number,
        messagesAfterPersist.size());
    installing = true;
    links.wal().tell(new WalCommand.Install(before, state, mark.index()));
  }

  @Override
  public void sendSnapshot(NodeId to, long transfer, long term, long atLeast) {
    links.snapshot().tell(new SnapshotCommand.Send(to, transfer, term, atLeast));
  }

  @Override
  public void readLog(NodeId to, long from, long until, long maxBytes) {
    links.wal().tell(new WalCommand.ReadLog(to, from, until, maxBytes));
  }

  @Override
  public void transferRefused(NodeId to, Refusal reason) {
    LOG.info("leadership transfer refused transferee={} reason={}", to, reason);
    transfers.refused(to, reason);
  }

  @Override
  public void membershipChanged(Membership membership) {
    LOG.info(
        "membership took effect version={} voters={} learners={} outgoing={} leaving={}",
        membership.version(),
        membership.voters(),
        membership.learners(),
        membership.outgoing(),
        membership.leaving());
    links.membership().accept(membership);
  }

  @Override
  public void removed() {
    LOG.warn("this member was removed from the cluster, stopping");
    timers.startSingleTimer(End.INSTANCE, REMOVAL_DELAY);
  }

  @Override
  public void send(NodeId to, PeerMessage message) {
    links.peers().send(to, message);
  }

  @Override
  public void apply(List<Entry> committed) {
    links.apply().tell(new ApplyCommand.Apply(committed, System.nanoTime()));
  }

  @Override
  public void releaseRead(long readId, long readIndex) {
    ActorRef<ReadReply> replyTo = reads.remove(readId);
    if (replyTo == null) {
      return;
    }
    long confirmedNanos = System.nanoTime();
    if (readIndex <= core.status().applied()) {
      replyTo.tell(new ReadReply.Ready(readIndex, confirmedNanos));
    } else {
      links.apply().tell(new ApplyCommand.AwaitApplied(readIndex, confirmedNanos, replyTo));
    }
  }

  @Override
  public void rejectRead(long readId, Refusal reason) {
    ActorRef<ReadReply> replyTo = reads.remove(readId);
    if (replyTo != null) {
      replyTo.tell(new ReadReply.Failed(reason));
    }
  }

  @Override
  public void reject(RequestId id, Refusal reason) {
    links.apply().tell(new ApplyCommand.Refuse(id, reason));
  }

  @Override
  public void roleChanged(RaftStatus status) {
    LOG.info(
        "raft role changed role={} term={} leader={} commit={} applied={} last={}",
        status.role(),
        status.term(),
        status.leader(),
        status.commit(),
        status.applied(),
        status.lastIndex());
    leaderLogger.roleChanged(status);
    // Before the replies: a caller that learns of a transfer finds it in the status.
    links.status().accept(status);
    boolean leads = status.role() == RaftRole.LEADER;
    transfers.roleChanged(leads, status.leader());
    long term = leads ? status.term() : 0;
    if (term != leadingTerm) {
      leadingTerm = term;
      heartbeats.begin(System.nanoTime());
      links.apply().tell(new ApplyCommand.Leading(leads, status.term()));
    }
  }
}
