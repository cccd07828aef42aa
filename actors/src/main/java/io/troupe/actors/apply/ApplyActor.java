package io.troupe.actors.apply;

import io.troupe.lease.LeaseChange;
import io.troupe.machine.Applied;
import io.troupe.machine.DigestCheck;
import io.troupe.machine.DivergenceDetector;
import io.troupe.machine.DivergenceEffects;
import io.troupe.machine.StateMachine;
import io.troupe.metrics.ApplyMetrics;
import io.troupe.model.AlarmType;
import io.troupe.model.Entry;
import io.troupe.model.MemoryBudget;
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
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.txn.ResponseSpace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The only writer of the state and the owner of pending replies. A run of committed entries becomes
 * one atomic batch. Replies, events and lease changes are sent only after that batch is written, in
 * log order.
 */
public final class ApplyActor extends AbstractBehavior<ApplyCommand> implements DivergenceEffects {
  private static final Logger LOG = LoggerFactory.getLogger(ApplyActor.class);

  /** Entries of one batch. Bounds how long a reply waits for the rest of its batch. */
  private static final int MAX_BATCH = 512;

  /** Bytes of one batch, as changes of the state or as events: bounds its memory. */
  private static final long MAX_BATCH_BYTES = 2 << 20;

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

  private record PendingReply(
      ActorRef<ProposeReply> replyTo,
      MemoryBudget.@Nullable Share response,
      long term,
      long sweep,
      long proposedNanos) {}

  private record AuthChange(Operation.Auth operation, Result result) {}

  private record AppliedReply(ActorRef<ProposeReply> replyTo, ProposeReply reply) {}

  private final StateMachine machine;
  private final Settings settings;
  private final Links links;
  private final Map<Long, PendingReply> waiting = new LinkedHashMap<>();
  private final TreeMap<Long, List<ApplyCommand.AwaitApplied>> reads = new TreeMap<>();
  private final List<AppliedReply> replies = new ArrayList<>();
  private final List<LeaseChange> leaseChanges = new ArrayList<>();

  /** Term of the last applied entry. */
  private long appliedTerm;

  /** Term in which this member leads and of which it has not applied an entry yet; otherwise 0. */
  private long unsettledTerm;

  private final List<AuthChange> authChanges = new ArrayList<>();
  private final DivergenceDetector divergence;
  private final NodeId self;
  private final ApplyCounts counts;
  private final SlowApplies slow;
  private final TracedProposals traced;
  private @Nullable RequestId incomplete;
  private long compactedRevision;
  private long snapshotIndex;
  private long sweeps;

  /** Time at which this member learned that the entries that it applies now are committed. */
  private long committedNanos;

  private ApplyActor(
      ActorContext<ApplyCommand> context, StateMachine machine, Settings settings, Links links) {
    super(context);
    this.machine = machine;
    this.settings = settings;
    this.links = links;
    this.counts = new ApplyCounts(links.metrics());
    this.slow = new SlowApplies(settings.slow());
    this.traced = new TracedProposals(links.traces());
    this.compactedRevision = machine.reader().view().compactedRevision();
    this.snapshotIndex = machine.appliedIndex();
    this.appliedTerm = machine.view().appliedTerm();
    this.self = links.divergence().self();
    this.divergence =
        new DivergenceDetector(self, DIGEST_EVERY, machine.appliedIndex(), machine.digest(), this);
    divergence.committed(isAlarmed());
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
        .onMessage(ApplyCommand.AwaitApplied.class, this::onAwaitApplied)
        .onMessage(ApplyCommand.Refuse.class, this::onRefuse)
        .onMessage(ApplyCommand.Leading.class, this::onLeading)
        .onMessage(ApplyCommand.LeaderDigest.class, this::onLeaderDigest)
        .onMessageEquals(DigestInterval.INSTANCE, this::onDigestInterval)
        .onMessageEquals(Sweep.INSTANCE, this::onSweep)
        .onMessageEquals(Stop.INSTANCE, Behaviors::stopped)
        .onSignal(PostStop.class, stop -> onStop())
        .build();
  }

  private Behavior<ApplyCommand> onExpect(ApplyCommand.Expect expect) {
    for (ApplyCommand.Expectation one : expect.expectations()) {
      waiting.put(
          one.id().value(),
          new PendingReply(one.replyTo(), one.response(), expect.term(), sweeps, expect.nanos()));
    }
    return this;
  }

  private Behavior<ApplyCommand> onTrace(ApplyCommand.Trace trace) {
    traced.expect(trace.proposals(), trace.nanos());
    return this;
  }

  private Behavior<ApplyCommand> onRefuse(ApplyCommand.Refuse refuse) {
    PendingReply who = waiting.remove(refuse.id().value());
    if (who != null) {
      who.replyTo().tell(new ProposeReply.NotProposed(refuse.reason()));
    }
    return this;
  }

  private Behavior<ApplyCommand> onLeaderDigest(ApplyCommand.LeaderDigest said) {
    divergence.compare(said.digest().index(), said.digest().digest());
    said.handled().run();
    return this;
  }

  private Behavior<ApplyCommand> onDigestInterval() {
    divergence.check();
    return this;
  }

  private boolean isAlarmed() {
    return machine.view().isAlarmed(self, AlarmType.CORRUPT);
  }

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

  /** Ignores the reply: the alarm is raised again until it is active. */
  @Override
  public void raiseAlarm(Operation.AlarmActivate alarm) {
    RequestId id = links.divergence().ids().next();
    links
        .raft()
        .tell(
            new RaftCommand.Propose(
                id,
                OperationCodec.encode(id, alarm),
                getContext().getSystem().<ProposeReply>ignoreRef()));
  }

  private Behavior<ApplyCommand> onLeading(ApplyCommand.Leading leading) {
    divergence.leading(leading.leading() ? leading.term() : 0);
    unsettledTerm = leading.leading() ? leading.term() : 0;
    links
        .lease()
        .tell(
            leading.leading()
                ? new LeaseCommand.Promoted(machine.reader().leases(), leading.term())
                : LeaseCommand.Demoted.INSTANCE);
    return this;
  }

  private Behavior<ApplyCommand> onAwaitApplied(ApplyCommand.AwaitApplied await) {
    if (await.index() <= machine.view().appliedIndex()) {
      ready(await);
    } else {
      reads.computeIfAbsent(await.index(), index -> new ArrayList<>()).add(await);
    }
    return this;
  }

  private Behavior<ApplyCommand> onApply(ApplyCommand.Apply apply) {
    List<Entry> entries = apply.committed();
    committedNanos = apply.nanos();
    int inBatch = 0;
    for (Entry entry : entries) {
      apply(entry);
      inBatch++;
      if (inBatch == MAX_BATCH
          || links.commits().pendingBytes() >= MAX_BATCH_BYTES
          || machine.pendingBytes() >= MAX_BATCH_BYTES) {
        endBatch();
        inBatch = 0;
      }
    }
    if (inBatch > 0) {
      endBatch();
    }
    return this;
  }

  private void endBatch() {
    machine.commit();
    distribute();
  }

  private void apply(Entry entry) {
    switch (entry.kind()) {
      case NOOP -> machine.noop(entry.index(), entry.term());
      case CONF_CHANGE -> confChange(entry, MembershipCodec.decodeEntry(entry.data()));
      case OPERATION -> {
        OperationCodec.Decoded decoded = OperationCodec.decode(entry.data());
        operation(entry, decoded);
      }
    }
    divergence.applied(machine.appliedIndex(), machine.digest());
  }

  private void operation(Entry entry, OperationCodec.Decoded decoded) {
    long startNanos = System.nanoTime();
    Applied applied =
        machine.apply(
            entry.index(),
            entry.term(),
            decoded.requester(),
            decoded.operation(),
            response(decoded.id()));
    long endNanos = System.nanoTime();
    counts.applied(decoded.operation(), applied.result(), endNanos - startNanos);
    slow.applied(entry, decoded.operation(), applied.result(), endNanos - startNanos);
    links.commits().add(applied);
    leaseChanges.addAll(applied.leaseChanges());
    if (decoded.operation() instanceof Operation.Auth change
        && !(applied.result() instanceof Result.Refused)) {
      authChanges.add(new AuthChange(change, applied.result()));
    }
    addReply(decoded.id(), applied.result(), entry.index(), endNanos);
    traced.applied(decoded.id(), entry.index(), committedNanos);
  }

  /** Collects a response only if a caller on this member waits for it. */
  private ResponseSpace response(RequestId id) {
    PendingReply caller = waiting.get(id.value());
    return caller == null || caller.response() == null
        ? ResponseSpace.none()
        : ResponseSpace.of(caller.response());
  }

  private void addReply(RequestId id, Result result, long index, long appliedNanos) {
    PendingReply who = waiting.remove(id.value());
    if (who != null) {
      replies.add(
          new AppliedReply(
              who.replyTo(),
              new ProposeReply.Applied(
                  result, index, who.proposedNanos(), committedNanos, appliedNanos)));
    }
  }

  /**
   * The caller that removes a voter gets its reply with the entry that completes the transition.
   * Until then the voter is needed, and its process must not be stopped.
   */
  private void confChange(Entry entry, ConfEntry change) {
    Applied applied = machine.confChange(entry.index(), entry.term(), change);
    RequestId id = change.id();
    if (id != null && change.isComplete()) {
      addReply(id, applied.result(), entry.index(), System.nanoTime());
    } else if (id != null) {
      incomplete = id;
    }
    if (incomplete != null && change.after().isTransitionComplete()) {
      addReply(incomplete, applied.result(), entry.index(), System.nanoTime());
      incomplete = null;
    }
  }

  /** Publishes the batch, which is written and visible to readers. */
  private void distribute() {
    long index = machine.view().appliedIndex();
    links.applied().accept(index);
    divergence.committed(isAlarmed());
    publishAuthChanges();
    // Leases first: a client that learns that its grant was applied finds the lease counted.
    if (!leaseChanges.isEmpty()) {
      links.lease().tell(new LeaseCommand.Changed(List.copyOf(leaseChanges)));
      leaseChanges.clear();
    }
    if (unsettledTerm != 0 && machine.view().appliedTerm() == unsettledTerm) {
      links.lease().tell(new LeaseCommand.StateCaughtUp(unsettledTerm));
      unsettledTerm = 0;
    }
    // Watches before replies: a client that learns that its write was applied may request the
    // progress of its watch (W16).
    links.commits().publish();
    // After all of these: from here on the raft actor reports this index as applied, and its
    // reports must not overtake them.
    links.raft().tell(new RaftCommand.Applied(index));
    for (AppliedReply applied : replies) {
      applied.replyTo().tell(applied.reply());
    }
    replies.clear();
    refuseLost();
    releaseReads(index);
    afterwards(index);
  }

  /**
   * Refuses the pending proposals of earlier terms that were lost. A proposal that an earlier
   * leader accepted is in the log before the first entry of a later term, or never will be: each
   * later leader has all entries up to that one, and no entry of an earlier term after it.
   */
  private void refuseLost() {
    long term = machine.view().appliedTerm();
    if (term == appliedTerm) {
      return;
    }
    appliedTerm = term;
    RequestId begun = incomplete;
    waiting
        .entrySet()
        .removeIf(
            entry -> {
              boolean lost =
                  entry.getValue().term() < term
                      && (begun == null || entry.getKey() != begun.value());
              if (lost) {
                entry.getValue().replyTo().tell(new ProposeReply.NotProposed(Refusal.NO_LEADER));
              }
              return lost;
            });
  }

  /**
   * Precedes the commits, so that a watcher without the right sees no change made after its
   * revocation.
   */
  private void publishAuthChanges() {
    if (authChanges.isEmpty()) {
      return;
    }
    authChanges.forEach(change -> links.auth().applied(change.operation(), change.result()));
    boolean rights =
        authChanges.stream()
            .anyMatch(change -> !(change.operation() instanceof Operation.Authenticate));
    if (rights) {
      links.commits().publishRightsChanged();
    }
    authChanges.clear();
  }

  private void releaseReads(long index) {
    while (!reads.isEmpty() && reads.firstKey() <= index) {
      reads.pollFirstEntry().getValue().forEach(ApplyActor::ready);
    }
  }

  private static void ready(ApplyCommand.AwaitApplied await) {
    await.replyTo().tell(new ReadReply.Ready(await.index(), await.confirmedNanos()));
  }

  private void afterwards(long index) {
    long compacted = machine.reader().view().compactedRevision();
    if (compacted != compactedRevision) {
      compactedRevision = compacted;
      links.compaction().accept(compacted);
    }
    if (index - snapshotIndex >= settings.snapshotCount()) {
      snapshotIndex = index;
      links.snapshot().tell(new SnapshotCommand.Due(index, machine.view().appliedTerm()));
    }
  }

  /**
   * The state is replaced, or the member stops: entries whose callers still wait are not applied
   * here.
   */
  private Behavior<ApplyCommand> onStop() {
    waiting.values().forEach(who -> who.replyTo().tell(ProposeReply.Unknown.INSTANCE));
    return this;
  }

  /**
   * Drops the callers whose entries never came. The entries were lost with their leader, and the
   * requests of the callers have timed out.
   */
  private Behavior<ApplyCommand> onSweep() {
    sweeps++;
    waiting.values().removeIf(who -> who.sweep() + 1 < sweeps);
    traced.sweep();
    return this;
  }
}
