package io.troupe.actors.raft;

import io.troupe.metrics.RaftMetrics;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.protocol.PeerTransport;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.ReplicationReply;
import io.troupe.protocol.ReplyTo;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.TransferReply;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.RaftLoop;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.RaftState;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.membership.Membership;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.apache.pekko.japi.function.Creator;
import org.apache.pekko.japi.function.Function;

/**
 * Runs {@link RaftLoop}: turns messages into inputs and effects into messages, log lines and
 * metrics.
 */
public final class RaftRoleActor extends AbstractBehavior<RaftCommand> {
  private enum Tick implements RaftCommand.Private {
    INSTANCE
  }

  enum Flush implements RaftCommand.Private {
    INSTANCE
  }

  enum End implements RaftCommand.Private {
    INSTANCE
  }

  enum FlushDelayedAppends implements RaftCommand.Private {
    INSTANCE
  }

  /**
   * The last message, when a snapshot has replaced log and state: all earlier messages were
   * refused, and the actor stops.
   */
  public enum Stop implements RaftCommand.Private {
    /** The only one. */
    INSTANCE
  }

  /** Maximum number of messages that are stashed before {@link Begin}; further ones are refused. */
  static final int BEFORE_BEGIN = 1000;

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

  private final RaftLoop<ApplyCommand.Expectation, ReplyTo<ReadReply>, ReplyTo<TransferReply>> loop;
  private final Links links;
  private final TimerScheduler<RaftCommand> timers;
  private final RaftRoleEffects effects;
  private final TickSchedule ticks;
  private final LateHeartbeatDetector heartbeats;

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
    this.ticks = new TickSchedule(tick, System.nanoTime());
    this.heartbeats = new LateHeartbeatDetector(settings.heartbeatTicks(), tick);
    this.effects =
        new RaftRoleEffects(context.getSelf(), timers, links, recovered.self(), heartbeats);
    this.loop = new RaftLoop<>(recovered, settings, tick.toNanos(), jitter, effects);
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
                                      actor.loop.start();
                                      return stash.unstashAll(actor);
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
        .onMessageEquals(Flush.INSTANCE, input(loop::flushProposals))
        .onMessage(RaftCommand.Durable.class, input(m -> loop.persisted(m.number())))
        .onMessage(RaftCommand.Applied.class, input(m -> loop.applied(m.index())))
        .onMessage(RaftCommand.ReadIndex.class, input(m -> loop.readIndex(m.replyTo())))
        .onMessage(
            RaftCommand.ConfirmLeadership.class,
            input(m -> loop.confirmLeadership(m.term(), m.supporter(), m.replyTo())))
        .onMessage(RaftCommand.ProposeInTerm.class, this::onProposeInTerm)
        .onMessage(RaftCommand.FromPeer.class, this::onFromPeer)
        .onMessage(RaftCommand.PeerDigest.class, this::onPeerDigest)
        .onMessage(RaftCommand.ProposeConfChange.class, this::onProposeConfChange)
        .onMessage(
            RaftCommand.TransferLeadership.class,
            input(m -> loop.transferLeadership(m.to(), m.replyTo())))
        .onMessage(RaftCommand.HandOver.class, input(m -> loop.handOver(m.replyTo())))
        .onMessage(
            RaftCommand.GetReplication.class,
            input(m -> m.replyTo().tell(new ReplicationReply(loop.replication()))))
        .onMessage(
            RaftCommand.LogRead.class, input(m -> loop.logRead(m.to(), m.from(), m.entries())))
        .onMessage(
            RaftCommand.SnapshotSent.class,
            input(m -> loop.snapshotSent(m.to(), m.transfer(), m.index(), m.ok())))
        .onMessage(RaftCommand.SnapshotReceived.class, this::onSnapshotReceived)
        .onMessage(RaftCommand.SnapshotTaken.class, input(m -> loop.compactLog(m.index())))
        .onMessageEquals(Tick.INSTANCE, this::onTick)
        .onMessageEquals(FlushDelayedAppends.INSTANCE, input(loop::flushDelayedAppends))
        .onMessageEquals(End.INSTANCE, this::onEnd)
        .onMessageEquals(Stop.INSTANCE, Behaviors::stopped)
        .build();
  }

  private <M extends RaftCommand> Function<M, Behavior<RaftCommand>> input(Consumer<M> handler) {
    return message -> {
      handler.accept(message);
      return this;
    };
  }

  private Creator<Behavior<RaftCommand>> input(Runnable handler) {
    return () -> {
      handler.run();
      return this;
    };
  }

  private Behavior<RaftCommand> onTick() {
    long now = System.nanoTime();
    timers.startSingleTimer(Tick.INSTANCE, ticks.untilNext(now));
    boolean late = effects.leads() && heartbeats.isLate(now);
    loop.tick();
    links.metrics().ticked();
    ReplicationStatus replication = late ? loop.replication() : null;
    // A leader that steps down at this tick sends no heartbeats.
    if (replication != null) {
      links.metrics().heartbeatsLate(replication.peers().size());
    }
    return this;
  }

  private Behavior<RaftCommand> onPropose(RaftCommand.Propose propose) {
    Proposal proposal = propose.proposal();
    loop.propose(
        proposal,
        new ApplyCommand.Expectation(proposal.id(), propose.replyTo(), propose.response()));
    return this;
  }

  private Behavior<RaftCommand> onProposeInTerm(RaftCommand.ProposeInTerm propose) {
    Proposal proposal = propose.proposal();
    loop.proposeInTerm(
        propose.term(), proposal, new ApplyCommand.Expectation(proposal.id(), propose.replyTo()));
    return this;
  }

  private Behavior<RaftCommand> onProposeConfChange(RaftCommand.ProposeConfChange propose) {
    loop.proposeConfChange(
        propose.proposal(),
        new ApplyCommand.Expectation(propose.proposal().id(), propose.replyTo()));
    return this;
  }

  private Behavior<RaftCommand> onFromPeer(RaftCommand.FromPeer m) {
    if (m.message() instanceof PeerMessage.ForwardedProposals forwarded
        && links.traces().isWanted()
        && forwarded.isTraced()
        && loop.leadsIn(forwarded.term())) {
      // Sent before any of these proposals can be applied. Proposals that the core rejects are
      // dropped by the next sweeps.
      links.apply().tell(new ApplyCommand.Trace(forwarded.proposals(), System.nanoTime()));
    }
    loop.receive(m.from(), m.message());
    m.handled().run();
    return this;
  }

  /**
   * A member that follows a leader in its term applies the same entries. The digest of any other
   * sender is ignored.
   */
  private Behavior<RaftCommand> onPeerDigest(RaftCommand.PeerDigest said) {
    if (loop.follows(said.from(), said.digest().term())) {
      links.apply().tell(new ApplyCommand.LeaderDigest(said.digest(), said.handled()));
    } else {
      said.handled().run();
    }
    return this;
  }

  private Behavior<RaftCommand> onSnapshotReceived(RaftCommand.SnapshotReceived received) {
    loop.snapshotReceived(
        received.from(), new PeerMessage.InstallSnapshot(received.term(), received.mark()));
    return this;
  }

  private Behavior<RaftCommand> onEnd() {
    // An installation restarts the actors, and the core learns of the removal again.
    if (!loop.isInstalling()) {
      links.removed().run();
    }
    return this;
  }
}
