package io.troupe.actors.apply;

import io.troupe.lease.LeaseChange;
import io.troupe.machine.Applied;
import io.troupe.machine.ApplyCore;
import io.troupe.machine.ApplyEffects;
import io.troupe.machine.DigestCheck;
import io.troupe.machine.StateMachine;
import io.troupe.metrics.ApplyMetrics;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.AuthListener;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.ReplyBatch;
import io.troupe.protocol.ReplyTo;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.codec.OperationCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs {@link ApplyCore}: turns messages into inputs and effects into messages, and decides
 * nothing. The only writer of the state.
 */
public final class ApplyActor extends AbstractBehavior<ApplyCommand>
    implements ApplyEffects<ReplyTo<ProposeReply>, ApplyCommand.AwaitApplied> {
  private static final Logger LOG = LoggerFactory.getLogger(ApplyActor.class);

  /** Entries between two digests of a leader; up to one batch more. */
  private static final int DIGEST_EVERY = 256;

  /** Interval between two publications of the leader's digest. */
  private static final Duration DIGEST_INTERVAL = Duration.ofSeconds(1);

  /** The last message, sent before the state is replaced. All earlier messages were handled. */
  public enum Stop implements ApplyCommand.Private {
    /** The only one. */
    INSTANCE
  }

  private enum DigestInterval implements ApplyCommand.Private {
    INSTANCE
  }

  private enum Sweep implements ApplyCommand.Private {
    INSTANCE
  }

  /**
   * Where this actor sends what entries did.
   *
   * @param commits publishes committed changes to the watch hub
   * @param compaction receives each new compacted revision
   * @param applied receives the applied index, before any reply is sent
   * @param auth receives changes of users and roles, before any reply is sent
   * @param divergence needed to compare this state with the leader's
   * @param traces receives the traced proposals of other members
   * @param metrics counts what entries did
   */
  public record Links(
      ActorRef<RaftCommand> raft,
      CommitPublisher commits,
      ActorRef<LeaseCommand> lease,
      ActorRef<SnapshotCommand> snapshot,
      LongConsumer compaction,
      LongConsumer applied,
      AuthListener auth,
      Divergence divergence,
      ForwardedTraces traces,
      ApplyMetrics metrics) {}

  /**
   * What the comparison with the leader's state needs.
   *
   * @param self this member
   * @param ids for its alarm
   * @param others sends to all other members; messages may be lost
   * @param corrupt receives, on the actor's thread, whether this member must not serve, when that
   *     changes
   */
  public record Divergence(
      NodeId self,
      RequestIds ids,
      Consumer<PeerPayload.StateDigest> others,
      Consumer<Boolean> corrupt) {}

  /**
   * Limits.
   *
   * @param snapshotCount entries between two snapshots
   * @param replyTimeout after twice this time no caller waits for a reply
   * @param slow an entry that takes longer to apply is logged
   */
  public record Settings(long snapshotCount, Duration replyTimeout, Duration slow) {}

  private record AppliedReply(ReplyTo<ProposeReply> replyTo, ProposeReply reply) {}

  private final NodeId self;
  private final Links links;
  private final ApplyCore<ReplyTo<ProposeReply>, ApplyCommand.AwaitApplied> core;
  private final List<AppliedReply> replies = new ArrayList<>();
  private ReplyBatch batch = new ReplyBatch();
  private final ApplyCounts counts;
  private final SlowApplies slow;
  private final CorrectedCounts correctedCounts;
  private final TracedProposals traced;

  /** Time at which this member learned that the entries that it applies now are committed. */
  private long committedNanos;

  /** Index of the last operation, and the times before and after it was applied. */
  private long operationIndex;

  private long startNanos;
  private long endNanos;

  private ApplyActor(
      ActorContext<ApplyCommand> context, StateMachine machine, Settings settings, Links links) {
    super(context);
    this.links = links;
    this.self = links.divergence().self();
    this.counts = new ApplyCounts(links.metrics());
    this.slow = new SlowApplies(settings.slow());
    this.correctedCounts = new CorrectedCounts(machine.reader());
    this.traced = new TracedProposals(links.traces());
    this.core =
        new ApplyCore<>(
            self, machine, new ApplyCore.Settings(settings.snapshotCount(), DIGEST_EVERY), this);
    core.start();
  }

  /** The behavior of the actor. */
  public static Behavior<ApplyCommand> create(
      StateMachine machine, Settings settings, Links links) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> {
                  timers.startTimerWithFixedDelay(Sweep.INSTANCE, settings.replyTimeout());
                  timers.startTimerWithFixedDelay(DigestInterval.INSTANCE, DIGEST_INTERVAL);
                  return new ApplyActor(context, machine, settings, links);
                }));
  }

  @Override
  public Receive<ApplyCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(ApplyCommand.Expect.class, this::onExpect)
        .onMessage(ApplyCommand.Apply.class, this::onApply)
        .onMessage(ApplyCommand.Trace.class, this::onTrace)
        .onMessage(
            ApplyCommand.AwaitApplied.class, m -> feed(() -> core.awaitApplied(m.index(), m)))
        .onMessage(ApplyCommand.Refuse.class, m -> feed(() -> core.refuse(m.id(), m.reason())))
        .onMessage(ApplyCommand.Leading.class, m -> feed(() -> core.leading(m.leading(), m.term())))
        .onMessage(ApplyCommand.LeaderDigest.class, this::onLeaderDigest)
        .onMessageEquals(DigestInterval.INSTANCE, this::onDigestInterval)
        .onMessageEquals(Sweep.INSTANCE, this::onSweep)
        .onMessageEquals(Stop.INSTANCE, Behaviors::stopped)
        .onSignal(PostStop.class, stop -> feed(core::stop))
        .build();
  }

  private Behavior<ApplyCommand> feed(Runnable input) {
    input.run();
    return this;
  }

  private Behavior<ApplyCommand> onDigestInterval() {
    core.checkDigest();
    correctedCounts.check();
    return this;
  }

  private Behavior<ApplyCommand> onExpect(ApplyCommand.Expect expect) {
    for (ApplyCommand.Expectation one : expect.expectations()) {
      core.expect(one.id(), one.replyTo(), one.response(), expect.term(), expect.nanos());
    }
    return this;
  }

  private Behavior<ApplyCommand> onTrace(ApplyCommand.Trace trace) {
    traced.expect(trace.proposals(), trace.nanos());
    return this;
  }

  private Behavior<ApplyCommand> onLeaderDigest(ApplyCommand.LeaderDigest said) {
    core.compareDigest(said.digest().index(), said.digest().digest());
    said.handled().run();
    return this;
  }

  private Behavior<ApplyCommand> onApply(ApplyCommand.Apply apply) {
    committedNanos = apply.nanos();
    core.apply(apply.committed());
    return this;
  }

  private Behavior<ApplyCommand> onSweep() {
    core.sweep();
    traced.sweep();
    return this;
  }

  // ---- effects: entries

  @Override
  public DecodedOperation decode(Entry entry) {
    DecodedOperation decoded = OperationCodec.decode(entry.data());
    startNanos = System.nanoTime();
    return decoded;
  }

  @Override
  public void operationApplied(Entry entry, DecodedOperation decoded, Applied applied) {
    endNanos = System.nanoTime();
    operationIndex = entry.index();
    counts.applied(decoded.operation(), applied.result(), endNanos - startNanos);
    slow.applied(entry, decoded.operation(), applied.result(), endNanos - startNanos);
    links.commits().add(applied);
    traced.applied(decoded.id(), entry.index(), committedNanos);
  }

  @Override
  public long pendingEventBytes() {
    return links.commits().pendingBytes();
  }

  @Override
  public void addReply(
      ReplyTo<ProposeReply> caller, Result result, long index, long proposedNanos) {
    long appliedNanos = index == operationIndex ? endNanos : System.nanoTime();
    replies.add(
        new AppliedReply(
            caller,
            new ProposeReply.Applied(
                result, index, proposedNanos, committedNanos, appliedNanos, batch)));
  }

  // ---- effects: batches

  @Override
  public void appliedIndex(long index) {
    links.applied().accept(index);
  }

  @Override
  public void authChanged(Operation.Auth operation, Result result) {
    links.auth().applied(operation, result);
  }

  @Override
  public void rightsChanged() {
    links.commits().rightsChanged();
  }

  @Override
  public void leasesChanged(List<LeaseChange> changes) {
    links.lease().tell(new LeaseCommand.Changed(changes));
  }

  @Override
  public void stateCaughtUp(long term) {
    links.lease().tell(new LeaseCommand.StateCaughtUp(term));
  }

  @Override
  public void publishChanges() {
    links.commits().publish();
  }

  @Override
  public void completed(long index) {
    links.raft().tell(new RaftCommand.Applied(index));
  }

  @Override
  public void sendReplies() {
    for (AppliedReply applied : replies) {
      applied.replyTo().tell(applied.reply());
    }
    replies.clear();
    batch.sent();
    batch = new ReplyBatch();
  }

  @Override
  public void readReady(ApplyCommand.AwaitApplied await) {
    await.replyTo().tell(new ReadReply.Ready(await.index(), await.confirmedNanos()));
  }

  @Override
  public void compacted(long revision) {
    links.compaction().accept(revision);
  }

  @Override
  public void snapshotDue(long index, long term) {
    links.snapshot().tell(new SnapshotCommand.Due(index, term));
  }

  // ---- effects: callers and leadership

  @Override
  public void refused(ReplyTo<ProposeReply> caller, Refusal reason) {
    caller.tell(new ProposeReply.NotProposed(reason));
  }

  @Override
  public void resultUnknown(ReplyTo<ProposeReply> caller) {
    caller.tell(ProposeReply.Unknown.INSTANCE);
  }

  @Override
  public void promoted(List<Lease> leases, long term) {
    links.lease().tell(new LeaseCommand.Promoted(leases, term));
  }

  @Override
  public void demoted() {
    links.lease().tell(LeaseCommand.Demoted.INSTANCE);
  }

  // ---- effects: divergence

  @Override
  public void publishDigest(long term, long index, long digest) {
    links.divergence().others().accept(new PeerPayload.StateDigest(term, index, digest));
  }

  @Override
  public void differs(DigestCheck.Difference difference) {
    LOG.error(
        "state differs from the leader's, this member stops serving and raises the alarm CORRUPT"
            + " member={} index={} digest={} leader-digest={}",
        self,
        difference.index(),
        Long.toHexString(difference.own()),
        Long.toHexString(difference.leaders()));
  }

  @Override
  public void corruptChanged(boolean corrupt, boolean alarmed) {
    if (!corrupt) {
      LOG.warn("alarm CORRUPT disarmed, this member serves again member={}", self);
    } else if (alarmed) {
      LOG.error("alarm CORRUPT is active for this member, it does not serve member={}", self);
    }
    links.divergence().corrupt().accept(corrupt);
  }

  /** Does not wait for the reply: the alarm is raised again until it is active. */
  @Override
  public void raiseAlarm(Operation.AlarmActivate alarm) {
    RequestId id = links.divergence().ids().next();
    links.raft().tell(new RaftCommand.Propose(id, OperationCodec.encode(id, alarm), reply -> {}));
  }
}
