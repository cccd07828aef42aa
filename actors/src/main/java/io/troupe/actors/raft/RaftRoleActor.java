package io.troupe.actors.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.PeerTransport;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.ReplicationReply;
import io.troupe.protocol.TransferReply;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.ConfProposal;
import io.troupe.raft.Outgoing;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.RaftCore;
import io.troupe.raft.RaftEffects;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.RaftState;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.Membership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shell of {@link RaftCore}: turns messages into inputs and effects into messages, decides nothing.
 * Proposals that wait in the mailbox together become one batch, hence one record in the log.
 */
public final class RaftRoleActor extends AbstractBehavior<RaftCommand> implements RaftEffects {
  private static final Logger LOG = LoggerFactory.getLogger(RaftRoleActor.class);

  private enum Tick implements RaftCommand.Private {
    INSTANCE
  }

  private enum Flush implements RaftCommand.Private {
    INSTANCE
  }

  /**
   * Whom this room speaks to.
   *
   * @param status told whenever the core's status may have moved
   */
  public record Links(
      ActorRef<WalCommand> wal,
      ActorRef<ApplyCommand> apply,
      PeerTransport peers,
      Consumer<RaftStatus> status) {}

  /**
   * Tells the room whom it speaks to, and starts it. The first message, sent once: the others need
   * this room's address.
   */
  public record Begin(Links links) implements RaftCommand.Private {}

  private final RaftCore core;
  private final Links links;
  private final List<Proposal> proposals = new ArrayList<>();
  private final List<ApplyCommand.Expectation> expectations = new ArrayList<>();
  private final Map<Long, ActorRef<ReadReply>> reads = new HashMap<>();
  private final List<RaftCommand.TransferLeadership> transfers = new ArrayList<>();
  private long nextReadId;
  private boolean leading;

  private RaftRoleActor(
      ActorContext<RaftCommand> context,
      RaftState recovered,
      RaftSettings settings,
      RandomGenerator jitter,
      Links links) {
    super(context);
    this.links = links;
    this.core = new RaftCore(recovered, settings, jitter, this);
  }

  /**
   * The room's behaviour.
   *
   * @param tick length of a tick
   */
  public static Behavior<RaftCommand> create(
      RaftState recovered, RaftSettings settings, Duration tick, RandomGenerator jitter) {
    return Behaviors.receive(RaftCommand.class)
        .onMessage(
            Begin.class,
            begin ->
                Behaviors.setup(
                    context ->
                        Behaviors.withTimers(
                            timers -> {
                              timers.startTimerWithFixedDelay(Tick.INSTANCE, tick);
                              RaftRoleActor room =
                                  new RaftRoleActor(
                                      context, recovered, settings, jitter, begin.links());
                              return room.feed(room.core::start);
                            })))
        .build();
  }

  @Override
  public Receive<RaftCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(RaftCommand.Propose.class, this::onPropose)
        .onMessageEquals(Flush.INSTANCE, this::onFlush)
        .onMessage(RaftCommand.Durable.class, m -> feed(() -> core.persisted(m.number())))
        .onMessage(RaftCommand.Applied.class, m -> feed(() -> core.applied(m.index())))
        .onMessage(RaftCommand.ProposeConfChange.class, this::onProposeConfChange)
        .onMessage(RaftCommand.TransferLeadership.class, this::onTransferLeadership)
        .onMessage(RaftCommand.GetReplication.class, this::onGetReplication)
        .onMessage(RaftCommand.ReadIndex.class, this::onReadIndex)
        .onMessage(RaftCommand.FromPeer.class, m -> feed(() -> core.receive(m.from(), m.message())))
        .onMessage(RaftCommand.SnapshotTaken.class, m -> feed(() -> core.compactLog(m.index())))
        .onMessageEquals(Tick.INSTANCE, () -> feed(core::tick))
        .build();
  }

  private Behavior<RaftCommand> feed(Runnable input) {
    input.run();
    links.status().accept(core.status());
    return this;
  }

  private Behavior<RaftCommand> onPropose(RaftCommand.Propose propose) {
    proposals.add(new Proposal(propose.id(), propose.operation()));
    expectations.add(new ApplyCommand.Expectation(propose.id(), propose.replyTo()));
    if (proposals.size() == 1) {
      getContext().getSelf().tell(Flush.INSTANCE);
    }
    return this;
  }

  private Behavior<RaftCommand> onFlush() {
    // Before any of these can be applied or refused.
    links.apply().tell(new ApplyCommand.Expect(List.copyOf(expectations)));
    expectations.clear();
    List<Proposal> batch = List.copyOf(proposals);
    proposals.clear();
    return feed(() -> core.propose(batch));
  }

  private Behavior<RaftCommand> onProposeConfChange(RaftCommand.ProposeConfChange propose) {
    ConfProposal proposal = propose.proposal();
    links
        .apply()
        .tell(
            new ApplyCommand.Expect(
                List.of(new ApplyCommand.Expectation(proposal.id(), propose.replyTo()))));
    return feed(() -> core.proposeConfChange(proposal));
  }

  private Behavior<RaftCommand> onTransferLeadership(RaftCommand.TransferLeadership transfer) {
    if (core.status().leader().equals(transfer.to())) {
      transfer.replyTo().tell(TransferReply.Done.INSTANCE);
      return this;
    }
    transfers.add(transfer);
    return feed(() -> core.transferLeadership(transfer.to()));
  }

  private Behavior<RaftCommand> onGetReplication(RaftCommand.GetReplication query) {
    query.replyTo().tell(new ReplicationReply(core.replication()));
    return this;
  }

  private Behavior<RaftCommand> onReadIndex(RaftCommand.ReadIndex read) {
    long id = ++nextReadId;
    reads.put(id, read.replyTo());
    return feed(() -> core.requestRead(id));
  }

  @Override
  public void persist(long number, HardState state, List<Entry> entries, List<Outgoing> thenSend) {
    links.wal().tell(new WalCommand.Append(number, state, entries, thenSend));
  }

  // A member without a way to others has no use for these.

  @Override
  public void installSnapshot(
      long number, HardState state, SnapshotMark mark, List<Outgoing> thenSend) {
    throw new Invariant.Broken("snapshots cannot be installed yet: " + mark);
  }

  @Override
  public void sendSnapshot(NodeId to, long term, long atLeast) {
    throw new Invariant.Broken("snapshots cannot be sent yet, to " + to);
  }

  @Override
  public void readLog(NodeId to, long from, long until, long maxBytes) {
    throw new Invariant.Broken("the log cannot be read for others yet, for " + to);
  }

  @Override
  public void transferRefused(NodeId to, Refusal reason) {
    endTransfers(transfer -> transfer.to().equals(to), new TransferReply.Refused(reason));
  }

  @Override
  public void membershipChanged(Membership membership) {
    LOG.info(
        "membership changed version={} voters={} learners={} outgoing={} leaving={} removed={}",
        membership.version(),
        membership.voters(),
        membership.learners(),
        membership.outgoing(),
        membership.leaving(),
        membership.removed());
  }

  @Override
  public void removed() {
    throw new Invariant.Broken("a member cannot be removed yet");
  }

  private void endTransfers(Predicate<RaftCommand.TransferLeadership> which, TransferReply reply) {
    transfers.removeIf(
        transfer -> {
          boolean ends = which.test(transfer);
          if (ends) {
            transfer.replyTo().tell(reply);
          }
          return ends;
        });
  }

  @Override
  public void send(NodeId to, PeerMessage message) {
    links.peers().send(to, message);
  }

  @Override
  public void apply(List<Entry> committed) {
    links.apply().tell(new ApplyCommand.Apply(committed));
  }

  @Override
  public void releaseRead(long readId, long readIndex) {
    ActorRef<ReadReply> replyTo = reads.remove(readId);
    if (replyTo == null) {
      return;
    }
    if (readIndex <= core.status().applied()) {
      replyTo.tell(new ReadReply.Ready(readIndex));
    } else {
      links.apply().tell(new ApplyCommand.AwaitApplied(readIndex, replyTo));
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
    NodeId leader = status.leader();
    if (!leader.isNone()) {
      endTransfers(transfer -> transfer.to().equals(leader), TransferReply.Done.INSTANCE);
    }
    boolean leads = status.role() == RaftRole.LEADER;
    if (!leads && !leader.isNone()) {
      endTransfers(transfer -> true, new TransferReply.Refused(Refusal.LEADER_CHANGED));
    }
    if (leads != leading) {
      leading = leads;
      links.apply().tell(new ApplyCommand.Leading(leads));
    }
  }
}
