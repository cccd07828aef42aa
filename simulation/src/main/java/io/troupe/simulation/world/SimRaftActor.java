package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.AlarmType;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.MemoryBudget;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.ConfProposal;
import io.troupe.raft.Outgoing;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.RaftLoop;
import io.troupe.raft.RaftLoopEffects;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import io.troupe.simulation.history.Answer;
import io.troupe.snapshot.SnapshotRequest;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs {@link RaftLoop}, and checks the effects and the status after each input. */
final class SimRaftActor
    implements RaftLoopEffects<SimApplyActor.Caller, MemberRun.ReadIndexWaiter, Object> {
  private static final long TICK_US = 100_000;

  /** Approximate time that entries wait for the reply to the previous ones. */
  private static final long APPEND_DELAY_US = 5_000;

  private final MemberRun run;
  private final NodeId id;
  private final SimWorld world;
  private final SimDisk disk;
  private final SimActor actor;
  private final RaftLoop<SimApplyActor.Caller, MemberRun.ReadIndexWaiter, Object> loop;

  /** Callers that are neither replied to nor passed to the apply actor yet. */
  private final Set<Object> callers = Collections.newSetFromMap(new IdentityHashMap<>());

  private RaftStatus before;
  private long handedOut;

  /** A leader found that it was paused, and has not heard from another member since. */
  private boolean resumedAlone;

  private long tickExtraUs;

  SimRaftActor(MemberRun run) {
    this.run = run;
    this.id = run.id;
    this.world = run.world;
    this.disk = run.disk;
    this.actor = run.actor();
    this.handedOut = run.apply.machine().appliedIndex();
    this.loop =
        new RaftLoop<>(
            disk.recover(
                id, run.apply.machine(), run.random.nextInt(3) == 0 ? run.random.nextInt(300) : 0),
            world.settings().raft(),
            TICK_US * 1000,
            world.splitRandom(),
            this);
    this.before = loop.status();
  }

  void start() {
    loop.start();
    run.process.after(run.random.nextLong(TICK_US), this::tick);
  }

  private void tick() {
    loop.tick();
    run.process.after(TICK_US + run.random.nextInt(3000) + tickExtraUs, this::tick);
  }

  /** Delays ticks, as on a machine without free processors. */
  void slowTicks(long extraUs) {
    tickExtraUs = extraUs;
  }

  RaftStatus status() {
    return loop.status();
  }

  boolean leads() {
    return isLeader(loop.status());
  }

  private static boolean isLeader(RaftStatus status) {
    return status.role() == RaftRole.LEADER;
  }

  Membership membership() {
    return loop.membership();
  }

  /** Replication status of the peers; null if this member does not lead. */
  @Nullable ReplicationStatus replication() {
    return loop.replication();
  }

  /** A snapshot replaces log and state: this actor refuses everything. */
  boolean isInstalling() {
    return loop.isInstalling();
  }

  // ---- messages of callers

  /** Proposes an operation of this member itself. */
  void propose(Operation operation, Consumer<Answer> reply) {
    propose(operation, null, reply);
  }

  /**
   * Proposes an operation. Operations that arrive together are one batch.
   *
   * @param response memory for the response; null for this member itself
   */
  void propose(Operation operation, MemoryBudget.@Nullable Share response, Consumer<Answer> reply) {
    actor.tell(
        () -> {
          Proposal proposal = proposal(operation);
          loop.propose(proposal, began(new SimApplyActor.Caller(proposal.id(), reply, response)));
        });
  }

  /** As {@link #propose}, but immediately, and only if this member leads in the term. */
  void proposeInTerm(long term, Operation operation, Consumer<Answer> reply) {
    actor.tell(
        () -> {
          Proposal proposal = proposal(operation);
          world.rules().proposedInTerm(proposal.id(), term);
          loop.proposeInTerm(
              term, proposal, began(new SimApplyActor.Caller(proposal.id(), reply, null)));
        });
  }

  private Proposal proposal(Operation operation) {
    long request = world.register(operation);
    return new Proposal(new RequestId(request), world.encode(request));
  }

  void changeMembership(List<ConfChange> changes, long basis) {
    RequestId request = new RequestId(world.register(new Operation.LeaseCheckpoint(List.of())));
    actor.tell(
        () ->
            loop.proposeConfChange(
                new ConfProposal(request, changes, basis),
                began(new SimApplyActor.Caller(request, outcome -> {}, null))));
  }

  /** Requests a read index. The waiter is called when the state includes it. */
  void readIndex(MemberRun.ReadIndexWaiter waiter) {
    actor.tell(() -> loop.readIndex(began(waiter)));
  }

  /** As {@link #readIndex}, but only if this member leads in the term. */
  void confirmLeadership(long term, NodeId supporter, MemberRun.ReadIndexWaiter waiter) {
    actor.tell(() -> loop.confirmLeadership(term, supporter, began(waiter)));
  }

  void transferLeadership(NodeId to) {
    actor.tell(() -> loop.transferLeadership(to, began(new Object())));
  }

  void handOver() {
    actor.tell(() -> loop.handOver(began(new Object())));
  }

  private <X> X began(X caller) {
    callers.add(caller);
    return caller;
  }

  private void ended(Object caller) {
    require(callers.remove(caller), "a second reply, or none was expected", id, caller);
  }

  // ---- messages of other members

  void fromPeer(NodeId from, PeerMessage message) {
    actor.tell(
        () -> {
          world.trace().received(id, from, message);
          resumedAlone = false;
          loop.receive(from, message);
        });
  }

  void fromPeerDigest(NodeId from, long term, long index, long digest) {
    actor.tell(
        () -> {
          if (loop.follows(from, term)) {
            run.apply.compareDigest(index, digest);
          }
        });
  }

  // ---- messages of other actors

  void durable(long number) {
    actor.tell(() -> loop.persisted(number));
  }

  void applied(long index) {
    actor.tell(() -> loop.applied(index));
  }

  void snapshotTaken(long index) {
    actor.tell(() -> loop.compactLog(index));
  }

  void snapshotSent(NodeId to, long transfer, long index, boolean ok) {
    actor.tell(() -> loop.snapshotSent(to, transfer, index, ok));
  }

  void queryReplication() {
    actor.tell(() -> run.snapshots.replicated(loop.replication()));
  }

  /** Proposes an entry that changes nothing. */
  void proposeEmptyEntry(Runnable ended) {
    propose(new Operation.AlarmGet(AlarmType.NONE), outcome -> ended.run());
  }

  void snapshotArrived(NodeId from, PeerMessage.InstallSnapshot message) {
    actor.tell(
        () -> {
          world.trace().received(id, from, message);
          loop.snapshotReceived(from, message);
        });
  }

  /** Stops after all earlier messages. */
  void stop(Runnable stopped) {
    actor.tell(
        () -> {
          require(callers.isEmpty(), "stops without a reply to callers", id, callers);
          stopped.run();
        });
  }

  // ---- effects: time

  @Override
  public long nanoTime() {
    return run.process.clockNanos();
  }

  @Override
  public void flushLater() {
    actor.tell(loop::flushProposals);
  }

  @Override
  public void flushDelayedAppendsLater() {
    run.process.after(
        APPEND_DELAY_US + run.random.nextLong(APPEND_DELAY_US), loop::flushDelayedAppends);
  }

  @Override
  public void paused(long idleNanos) {
    if (leads()) {
      resumedAlone = loop.membership().voters().size() > 1;
      world.coverage().count("leaders that found that they were paused");
    }
  }

  // ---- effects: callers

  @Override
  public void expect(List<SimApplyActor.Caller> expected, long term) {
    expected.forEach(this::ended);
    run.apply.expect(expected, term);
  }

  @Override
  public void proposalRefused(SimApplyActor.Caller caller, Refusal reason) {
    ended(caller);
    world.rules().rejected(caller.id());
    caller.reply().accept(new Answer.Refused(reason));
  }

  @Override
  public void reject(RequestId request, Refusal reason) {
    world.rules().rejected(request);
    run.apply.refuse(request, reason);
  }

  @Override
  public void readReady(MemberRun.ReadIndexWaiter reader, long index) {
    ended(reader);
    world.coverage().count("read indexes");
    reader.ready(index);
  }

  @Override
  public void awaitApplied(MemberRun.ReadIndexWaiter reader, long index) {
    ended(reader);
    world.coverage().count("read indexes");
    run.apply.awaitApplied(index, reader);
  }

  @Override
  public void readFailed(MemberRun.ReadIndexWaiter reader, Refusal reason) {
    ended(reader);
    reader.failed(reason);
  }

  @Override
  public void transferDone(Object caller) {
    ended(caller);
    world.coverage().count("transfers done");
  }

  @Override
  public void transferFailed(Object caller, Refusal reason) {
    ended(caller);
  }

  @Override
  public void transferRefused(NodeId to, Refusal reason) {
    world.coverage().count("transfers refused");
  }

  // ---- effects: other members

  @Override
  public void send(NodeId to, PeerMessage message) {
    run.transmit(to, message);
  }

  @Override
  public void snapshotDropped(NodeId from) {
    require(false, "a member sent a snapshot without its content", id, from);
  }

  // ---- effects: log, state and snapshots

  @Override
  public void persist(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist) {
    if (!entries.isEmpty()) {
      long first = entries.get(0).index();
      if (disk.termAfterAll(first) >= 0) {
        world.coverage().count("log truncations");
      }
      world.trace().note(id, "persists", first + "+" + entries.size() + " " + state);
    }
    world.rules().appended(entries, disk);
    require(
        !resumedAlone || entries.stream().noneMatch(e -> e.kind() == Entry.Kind.OPERATION),
        "a leader proposes after a pause before it heard from a quorum",
        id,
        state);
    // The log as this core has it is visible immediately; the wal actor writes and forces it later.
    disk.plan(state, entries);
    run.wal.append(number, state, entries, messagesAfterPersist);
  }

  @Override
  public void apply(List<Entry> committed) {
    require(!committed.isEmpty(), "empty apply", id);
    for (Entry entry : committed) {
      require(entry.index() == handedOut + 1, "applied twice or with a gap", id, entry, handedOut);
      require(entry.index() <= disk.lastIndex(), "applied before durable here", id, entry);
      handedOut = entry.index();
    }
    run.apply.take(committed);
  }

  @Override
  public void installSnapshot(
      long number,
      HardState before,
      HardState state,
      SnapshotMark mark,
      List<Outgoing> messagesAfterPersist) {
    require(state.commit() == mark.index(), "snapshot is not committed", id, mark, state);
    world.rules().installed(id, mark);
    world.coverage().count("snapshots installed");
    world.member(id).installedSnapshot();
    world.trace().note(id, "installs", mark);
    DigestStore content = run.snapshots.arrived(mark);
    // The messages are dropped: the next run replies from the new log.
    run.wal.install(before, state, new SimDisk.Snapshot(mark, content));
    handedOut = mark.index();
  }

  @Override
  public void sendSnapshot(NodeId to, long transfer, long term, long atLeast) {
    run.snapshots.send(new SnapshotRequest(to, transfer, term, atLeast));
  }

  @Override
  public void readLog(NodeId to, long from, long until, long maxBytes) {
    world.coverage().count("log reads for followers");
    run.process.after(
        200 + run.random.nextInt(5_000),
        () -> {
          List<Entry> entries = disk.read(from, until, maxBytes);
          actor.tell(() -> loop.logRead(to, from, entries));
        });
  }

  // ---- effects: status and membership

  @Override
  public void status(RaftStatus status) {
    require(status.commit() >= before.commit(), "commit went back", id, status, before);
    require(status.commit() <= status.lastIndex(), "commit past the log", id, status);
    if (isLeader(before) && isLeader(status) && before.term() == status.term()) {
      world.rules().counted(id, before, status, disk);
    }
    world.rules().usesMembership(id, status.commit(), loop.membership());
    require(status.applied() <= handedOut, "applied more than handed out", id, status);
    require(handedOut <= status.commit(), "handed out too much", id, status, handedOut);
    before = status;
  }

  @Override
  public void roleChanged(RaftStatus status) {
    world.trace().note(id, "role", status);
    if (isLeader(status)) {
      world.rules().elected(id, status.term(), disk);
    }
  }

  @Override
  public void leading(boolean leads, long term) {
    run.apply.leading(leads, term);
  }

  @Override
  public void membershipChanged(Membership membership) {
    world.trace().note(id, "membership", membership);
    world.rules().known(membership);
  }

  @Override
  public void removed() {
    require(world.rules().isRemoved(id), "removal that was never committed", id);
    world.trace().note(id, "removed", "");
    world.coverage().count("members notified of their removal");
    // The process stops by itself, when all pending work is done.
    run.process.after(
        50_000,
        () -> {
          if (!loop.isInstalling()) {
            world.member(id).retire();
          }
        });
  }
}
