package io.troupe.actors.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.ReplyTo;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.TransferReply;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.Outgoing;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.RaftLoopEffects;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.Membership;
import java.time.Duration;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The effects of the raft actor, as messages, timers, log lines and metrics. */
final class RaftRoleEffects
    implements RaftLoopEffects<
        ApplyCommand.Expectation, ReplyTo<ReadReply>, ReplyTo<TransferReply>> {
  private static final Logger LOG = LoggerFactory.getLogger(RaftRoleActor.class);

  /**
   * How long entries may wait for the reply to the previous ones. Members on a fast network reply
   * sooner; on a slow network the wait would be a round trip.
   */
  private static final Duration APPEND_DELAY = Duration.ofMillis(5);

  /**
   * Time between the removal of this member and its stop, so that the other members receive the
   * entry that removes it.
   */
  private static final Duration REMOVAL_DELAY = Duration.ofSeconds(1);

  private final ActorRef<RaftCommand> self;
  private final TimerScheduler<RaftCommand> timers;
  private final RaftRoleActor.Links links;
  private final LeaderChangeLogger leaderLogger;
  private final LateHeartbeatDetector heartbeats;
  private boolean leads;

  RaftRoleEffects(
      ActorRef<RaftCommand> self,
      TimerScheduler<RaftCommand> timers,
      RaftRoleActor.Links links,
      NodeId member,
      LateHeartbeatDetector heartbeats) {
    this.self = self;
    this.timers = timers;
    this.links = links;
    this.leaderLogger = new LeaderChangeLogger(member);
    this.heartbeats = heartbeats;
  }

  /** True if this member leads. */
  boolean leads() {
    return leads;
  }

  // ---- time

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public void flushLater() {
    self.tell(RaftRoleActor.Flush.INSTANCE);
  }

  @Override
  public void flushDelayedAppendsLater() {
    timers.startSingleTimer(RaftRoleActor.FlushDelayedAppends.INSTANCE, APPEND_DELAY);
  }

  @Override
  public void paused(long idleNanos) {
    LOG.warn(
        "process was paused, a leader confirms its term before it proposes took={}",
        Duration.ofNanos(idleNanos));
  }

  // ---- callers of proposals

  @Override
  public void expect(List<ApplyCommand.Expectation> callers, long term) {
    links.apply().tell(new ApplyCommand.Expect(callers, term, System.nanoTime()));
  }

  @Override
  public void proposalRefused(ApplyCommand.Expectation caller, Refusal reason) {
    caller.replyTo().tell(new ProposeReply.NotProposed(reason));
  }

  @Override
  public void reject(RequestId id, Refusal reason) {
    links.apply().tell(new ApplyCommand.Refuse(id, reason));
  }

  // ---- readers

  @Override
  public void readReady(ReplyTo<ReadReply> reader, long index) {
    reader.tell(new ReadReply.Ready(index, System.nanoTime()));
  }

  @Override
  public void awaitApplied(ReplyTo<ReadReply> reader, long index) {
    links.apply().tell(new ApplyCommand.AwaitApplied(index, System.nanoTime(), reader));
  }

  @Override
  public void readFailed(ReplyTo<ReadReply> reader, Refusal reason) {
    reader.tell(new ReadReply.Failed(reason));
  }

  // ---- callers of transfers of leadership

  @Override
  public void transferDone(ReplyTo<TransferReply> caller) {
    caller.tell(TransferReply.Done.INSTANCE);
  }

  @Override
  public void transferFailed(ReplyTo<TransferReply> caller, Refusal reason) {
    caller.tell(new TransferReply.Refused(reason));
  }

  @Override
  public void transferRefused(NodeId to, Refusal reason) {
    LOG.info("leadership transfer refused transferee={} reason={}", to, reason);
  }

  // ---- other members

  @Override
  public void snapshotDropped(NodeId from) {
    // Only the snapshot actor sends this message, when the content is on this disk.
    LOG.warn("dropped snapshot without content remote-peer-id={}", from);
  }

  @Override
  public void send(NodeId to, PeerMessage message) {
    links.peers().send(to, message);
  }

  // ---- log, state and snapshots

  @Override
  public void persist(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist) {
    links.wal().tell(new WalCommand.Append(number, state, entries, messagesAfterPersist));
  }

  @Override
  public void apply(List<Entry> committed) {
    links.apply().tell(new ApplyCommand.Apply(committed, System.nanoTime()));
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

  // ---- status and membership

  @Override
  public void status(RaftStatus status) {
    links.status().accept(status);
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
  }

  @Override
  public void leading(boolean leads, long term) {
    this.leads = leads;
    heartbeats.begin(System.nanoTime());
    links.apply().tell(new ApplyCommand.Leading(leads, term));
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
    timers.startSingleTimer(RaftRoleActor.End.INSTANCE, REMOVAL_DELAY);
  }
}
