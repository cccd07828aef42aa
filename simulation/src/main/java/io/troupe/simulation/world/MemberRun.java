package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.MemoryBudget;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.raft.ConfProposal;
import io.troupe.raft.Outgoing;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.ProposalBatcher;
import io.troupe.raft.RaftCore;
import io.troupe.raft.RaftEffects;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Request;
import io.troupe.watch.EventBacklog;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One run of a member: the raft actor, and the other actors as in the real process. The actors
 * communicate through mailboxes. Work that the real process does on another thread is never done in
 * the same step.
 */
final class MemberRun implements RaftEffects, ProposalBatcher.Effects<SimApplyActor.Caller> {
  private static final long TICK_US = 100_000;

  /** Approximate time that entries wait for the reply to the previous ones. */
  private static final long APPEND_DELAY_US = 5_000;

  /** Receives a read index, or its refusal. */
  interface ReadIndexWaiter {
    void ready(long index);

    void failed(Refusal reason);
  }

  final NodeId id;
  final long session;
  final SimWorld world;
  final SimDisk disk;
  final SimProcess process;
  final SplittableRandom random;
  final ClientMemory memory;
  final EventBacklog backlog;
  final SimWalActor wal;
  final SimApplyActor apply;
  final SimCompactionActor compaction;
  final SimLeaseActor lease;
  final SimSnapshotActor snapshots;
  final WatchHub watch;
  private final SimActor raft;
  private final RaftCore core;
  private final ProposalBatcher<SimApplyActor.Caller> proposals = new ProposalBatcher<>(this);
  private final Map<Long, ReadIndexWaiter> reads = new HashMap<>();
  private long nextRead;
  private long handedOut;
  private long ranMs;
  private long tickExtraUs;
  private long leadingTerm;
  private boolean published;
  private boolean flushScheduled;

  /** A snapshot replaces log and state: from here on the raft actor refuses everything. */
  private boolean installing;

  /** The actors stop: clients are refused. */
  private boolean closed;

  MemberRun(SimMember member, SimWorld world, long session) {
    this.id = member.id();
    this.session = session;
    this.world = world;
    this.disk = member.disk();
    this.random = world.splitRandom();
    this.process = new SimProcess(world.scheduler());
    this.memory = new ClientMemory(this);
    this.backlog = new EventBacklog(world.settings().memory().backlogBytes());
    this.raft = actor();
    this.wal = new SimWalActor(this);
    this.apply = new SimApplyActor(this, disk.flushedState().copy());
    this.compaction =
        new SimCompactionActor(this, apply.machine().compactor(), apply.machine().reader());
    this.lease = new SimLeaseActor(this);
    this.snapshots = new SimSnapshotActor(this);
    this.watch = new WatchHub(this);
    this.handedOut = apply.machine().appliedIndex();
    this.ranMs = process.clockMs();
    this.core =
        new RaftCore(
            disk.recover(id, apply.machine()), world.settings().raft(), world.splitRandom(), this);
  }

  SimActor actor() {
    return new SimActor(process, world.scheduler(), random, world.settings().slowActors());
  }

  void start() {
    feed(core::start);
    process.after(random.nextLong(TICK_US), this::tick);
    lease.start();
    apply.start();
    compaction.start();
    memory.start();
    process.after(200_000, this::publish);
  }

  /**
   * Repeats until it has succeeded, as the real process does: an unpublished member does not count
   * as started.
   */
  private void publish() {
    if (!published) {
      propose(
          new Operation.PublishMember(id, "m" + id, List.of()),
          outcome -> published |= outcome instanceof Answer.Done);
      process.after(1_000_000, this::publish);
    }
  }

  private void tick() {
    input(core::tick);
    process.after(TICK_US + random.nextInt(3000) + tickExtraUs, this::tick);
  }

  /** Delays ticks, as on a machine without free processors. */
  void slowTicks(long extraUs) {
    tickExtraUs = extraUs;
  }

  /** An input without a reply. */
  private void input(Runnable input) {
    if (!installing) {
      feed(input);
    }
  }

  private void feed(Runnable input) {
    long nowMs = process.clockMs();
    boolean paused = nowMs - ranMs > world.settings().raft().electionTicks() * TICK_US / 1000;
    ranMs = nowMs;
    if (paused) {
      if (leads()) {
        world.coverage().count("leaders that found that they were paused");
      }
      feed(core::resumed);
    }
    RaftStatus before = core.status();
    input.run();
    RaftStatus status = core.status();
    require(status.commit() >= before.commit(), "commit went back", id, status, before);
    require(status.commit() <= status.lastIndex(), "commit past the log", id, status);
    if (isLeader(before) && isLeader(status) && before.term() == status.term()) {
      world.rules().counted(id, before, status, disk);
    }
    world.rules().usesMembership(id, status.commit(), core.membership());
    require(status.applied() <= handedOut, "applied more than handed out", id, status);
    require(handedOut <= status.commit(), "handed out too much", id, status, handedOut);
    if (!flushScheduled && core.hasDelayedAppends()) {
      flushScheduled = true;
      process.after(APPEND_DELAY_US + random.nextLong(APPEND_DELAY_US), this::flushDelayedAppends);
    }
    if (installing) {
      refusePending();
    }
  }

  private void flushDelayedAppends() {
    flushScheduled = false;
    input(core::flushDelayedAppends);
  }

  /** The actors stop as soon as the snapshot is durable: nothing of the old state matters. */
  private void refusePending() {
    for (SimApplyActor.Caller caller : proposals.drop()) {
      caller.reply().accept(new Answer.Refused(Refusal.NO_LEADER));
    }
    List<ReadIndexWaiter> waiting = List.copyOf(reads.values());
    reads.clear();
    waiting.forEach(read -> read.failed(Refusal.NO_LEADER));
  }

  /**
   * The disk has replaced log and state: the member refuses clients, the actors stop one after the
   * other when they have handled their messages, and start again from the disk.
   */
  void installed() {
    process.after(
        random.nextInt(2_000),
        () -> {
          closed = true;
          raft.tell(() -> apply.stop(() -> world.member(id).reopen()));
        });
  }

  private static boolean isLeader(RaftStatus status) {
    return status.role() == RaftRole.LEADER;
  }

  RaftStatus status() {
    return core.status();
  }

  boolean leads() {
    return isLeader(core.status());
  }

  /** True only if no other member could lead. */
  boolean isSoleVoter() {
    Membership now = core.membership();
    return leads()
        && now.voters().equals(Set.of(id))
        && now.outgoing().isEmpty()
        && now.leaving().isEmpty();
  }

  Membership membership() {
    return core.membership();
  }

  boolean isInstalling() {
    return installing;
  }

  RaftCore core() {
    return core;
  }

  // ---- from outside

  void fromPeer(NodeId from, PeerMessage message) {
    process.arrive(() -> raft.tell(() -> receive(from, message)));
  }

  private void receive(NodeId from, PeerMessage message) {
    if (message instanceof PeerMessage.Append
        || message instanceof PeerMessage.RequestVote
        || message instanceof PeerMessage.InstallSnapshot) {
      world.trace().note(id, "receives from " + from, brief(message));
    }
    input(() -> core.receive(from, message));
  }

  static String brief(PeerMessage message) {
    return message instanceof PeerMessage.Append append
        ? "Append t"
            + append.term()
            + " prev="
            + append.prevIndex()
            + "@"
            + append.prevTerm()
            + " +"
            + append.entries().size()
            + " commit="
            + append.commit()
        : message.toString();
  }

  /** Handles a client's request. {@code reply} receives the outcome, or is never called. */
  void request(Request request, Consumer<Answer> reply) {
    process.arrive(
        () -> {
          ClientMemory.Call call = memory.open(reply);
          handle(request, call.share(), call::answer);
        });
  }

  void fromPeerDigest(NodeId from, long term, long index, long digest) {
    process.arrive(
        () ->
            raft.tell(
                () -> {
                  if (!installing && core.status().follows(from, term)) {
                    apply.compareDigest(index, digest);
                  }
                }));
  }

  private void handle(Request request, MemoryBudget.Share response, Consumer<Answer> reply) {
    Refusal refusal = closed ? Refusal.NO_LEADER : refusal(request);
    if (refusal != null) {
      reply.accept(new Answer.Refused(refusal));
      return;
    }
    if (request instanceof Request.Write write) {
      propose(write.operation(), response, reply);
    } else if (request instanceof Request.Read read) {
      if (read.serializable()) {
        serveRead(read.query(), response, reply);
      } else {
        readIndex(
            new ReadIndexWaiter() {
              @Override
              public void ready(long index) {
                serveRead(read.query(), response, reply);
              }

              @Override
              public void failed(Refusal reason) {
                reply.accept(new Answer.Refused(reason));
              }
            });
      }
    } else if (request instanceof Request.KeepAlive renew) {
      lease.keepAlive(renew.lease(), reply);
    } else if (request instanceof Request.TimeToLive query) {
      lease.timeToLive(query.lease(), reply);
    }
  }

  /**
   * Refusal by the gateway because of the role or the state of this member (LN1, LN2,
   * docs/decisions/0060); null if there is none.
   */
  private @Nullable Refusal refusal(Request request) {
    boolean local = request instanceof Request.Read read && read.serializable();
    if (!local && SimDisk.membership(apply.machine()).learners().contains(id)) {
      return Refusal.LEARNER;
    }
    return apply.isCorrupt() ? Refusal.CORRUPT : null;
  }

  /** Reads run on their own dispatcher. */
  private void serveRead(RangeQuery query, MemoryBudget.Share response, Consumer<Answer> reply) {
    process.after(
        random.nextInt(300),
        () -> {
          Result result =
              response.isExceeded()
                  ? new Result.Refused(Refusal.TOO_MANY_REQUESTS)
                  : apply.machine().reader().range(query, response);
          if (result instanceof Result.Refused refused && isForMemory(refused.reason())) {
            world.coverage().count("reads refused for memory");
            reply.accept(new Answer.Refused(refused.reason()));
          } else {
            reply.accept(new Answer.Done(result));
          }
        });
  }

  private static boolean isForMemory(Refusal reason) {
    return reason == Refusal.TOO_MANY_REQUESTS || reason == Refusal.ANSWER_TOO_LARGE;
  }

  /** Proposes an operation of this member itself. */
  void propose(Operation operation, Consumer<Answer> reply) {
    propose(operation, null, reply);
  }

  /** Proposes an operation. Operations that arrive together are one batch. */
  private void propose(
      Operation operation, MemoryBudget.@Nullable Share response, Consumer<Answer> reply) {
    raft.tell(
        () -> {
          if (installing) {
            reply.accept(new Answer.Refused(Refusal.NO_LEADER));
            return;
          }
          Proposal proposal = proposal(operation);
          proposals.add(proposal, new SimApplyActor.Caller(proposal.id(), reply, response));
        });
  }

  private Proposal proposal(Operation operation) {
    long request = world.register(operation);
    return new Proposal(new RequestId(request), world.encode(request));
  }

  private boolean leadsIn(long term) {
    return core.status().leadsIn(term);
  }

  /** As {@link #propose}, but immediately, and only if this member leads in the term. */
  void proposeInTerm(long term, Operation operation, Consumer<Answer> reply) {
    raft.tell(
        () -> {
          if (installing || !leadsIn(term)) {
            reply.accept(new Answer.Refused(Refusal.NOT_LEADER));
            return;
          }
          Proposal proposal = proposal(operation);
          feed(
              () ->
                  proposals.proposeNow(
                      proposal, new SimApplyActor.Caller(proposal.id(), reply, null)));
        });
  }

  @Override
  public void flushLater() {
    raft.tell(() -> input(proposals::flush));
  }

  @Override
  public void expect(List<SimApplyActor.Caller> callers) {
    apply.expect(callers, core.status().term());
  }

  @Override
  public void propose(List<Proposal> batch) {
    core.propose(batch);
  }

  /** Requests a read index. The waiter is called when the state includes it. */
  void readIndex(ReadIndexWaiter waiter) {
    raft.tell(() -> read(waiter));
  }

  private void read(ReadIndexWaiter waiter) {
    if (installing) {
      waiter.failed(Refusal.NO_LEADER);
      return;
    }
    long read = ++nextRead;
    reads.put(read, waiter);
    feed(() -> core.requestRead(read));
  }

  /** As {@link #readIndex}, but only if this member leads in the term. */
  void confirmLeadership(long term, ReadIndexWaiter waiter) {
    raft.tell(
        () -> {
          if (!installing && leadsIn(term)) {
            read(waiter);
          } else {
            waiter.failed(Refusal.NOT_LEADER);
          }
        });
  }

  void changeMembership(List<ConfChange> changes, long basis) {
    long request = world.register(new Operation.LeaseCheckpoint(List.of()));
    raft.tell(
        () ->
            input(
                () ->
                    core.proposeConfChange(
                        new ConfProposal(new RequestId(request), changes, basis))));
  }

  void transferLeadership(NodeId to) {
    raft.tell(() -> input(() -> core.transferLeadership(to)));
  }

  void handOver() {
    raft.tell(() -> input(core::handOver));
  }

  // ---- from the other actors

  void durable(long number) {
    raft.tell(() -> input(() -> core.persisted(number)));
  }

  void applied(long index) {
    raft.tell(() -> input(() -> core.applied(index)));
  }

  void snapshotTaken(long index) {
    raft.tell(() -> input(() -> core.compactLog(index)));
  }

  void snapshotSent(NodeId to, long transfer, long index, boolean ok) {
    raft.tell(() -> input(() -> core.snapshotSent(to, transfer, index, ok)));
  }

  void snapshotArrived(NodeId from, PeerMessage.InstallSnapshot message) {
    raft.tell(() -> receive(from, message));
  }

  /** Sends a message. */
  void transmit(NodeId to, PeerMessage message) {
    world.rules().sending(id, new Outgoing(to, message), disk);
    world.deliver(id, to, message);
  }

  // ---- effects of the core

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
    long prevTerm = entries.isEmpty() ? 0 : disk.termAfterAll(entries.get(0).index() - 1);
    for (Entry entry : entries) {
      world.rules().appended(entry, prevTerm);
      prevTerm = entry.term();
    }
    // The log as this core has it is visible immediately; the wal actor writes and forces it later.
    disk.plan(state, entries);
    wal.append(number, state, entries, messagesAfterPersist);
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
    DigestStore content = snapshots.arrived(mark);
    // The messages are dropped: the next run replies from the new log.
    wal.install(before, state, new SimDisk.Snapshot(mark, content));
    handedOut = mark.index();
    installing = true;
  }

  @Override
  public void send(NodeId to, PeerMessage message) {
    transmit(to, message);
  }

  @Override
  public void apply(List<Entry> committed) {
    require(!committed.isEmpty(), "empty apply", id);
    for (Entry entry : committed) {
      require(entry.index() == handedOut + 1, "applied twice or with a gap", id, entry, handedOut);
      require(entry.index() <= disk.lastIndex(), "applied before durable here", id, entry);
      handedOut = entry.index();
    }
    apply.take(committed);
  }

  @Override
  public void releaseRead(long readId, long readIndex) {
    ReadIndexWaiter waiter = reads.remove(readId);
    require(waiter != null, "a read is released twice or was never requested", id, readId);
    if (waiter == null) {
      return;
    }
    world.coverage().count("read indexes");
    if (readIndex <= core.status().applied()) {
      waiter.ready(readIndex);
    } else {
      apply.awaitApplied(readIndex, waiter);
    }
  }

  @Override
  public void rejectRead(long readId, Refusal reason) {
    ReadIndexWaiter waiter = reads.remove(readId);
    if (waiter != null) {
      waiter.failed(reason);
    }
  }

  @Override
  public void reject(RequestId request, Refusal reason) {
    world.rules().rejected(request);
    apply.refuse(request, reason);
  }

  @Override
  public void sendSnapshot(NodeId to, long transfer, long term, long atLeast) {
    snapshots.send(to, transfer, term, atLeast);
  }

  @Override
  public void readLog(NodeId to, long from, long until, long maxBytes) {
    world.coverage().count("log reads for followers");
    process.after(
        200 + random.nextInt(5_000),
        () -> {
          List<Entry> entries = disk.read(from, until, maxBytes);
          raft.tell(() -> input(() -> core.logRead(to, from, entries)));
        });
  }

  @Override
  public void transferRefused(NodeId to, Refusal reason) {
    world.coverage().count("transfers refused");
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
    process.after(50_000, () -> world.member(id).retire());
  }

  @Override
  public void roleChanged(RaftStatus status) {
    world.trace().note(id, "role", status);
    boolean leads = status.role() == RaftRole.LEADER;
    if (leads) {
      world.rules().elected(id, status.term(), disk);
    }
    long term = leads ? status.term() : 0;
    if (term != leadingTerm) {
      leadingTerm = term;
      apply.leading(leads, status.term());
    }
  }
}
