package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The Raft rules of one member. Not thread-safe: one caller. Every method is one input and returns
 * after it called its effects; the same start and the same inputs give the same effects. After an
 * {@link Invariant.Broken} no method may be called any more. {@link ElectionState} has the table of
 * roles and terms.
 *
 * @source Raft dissertation, chapters 3, 6 and 9.6
 */
public final class RaftCore {
  final NodeId self;
  final RaftSettings settings;
  final RaftEffects effects;
  final RaftLog log;
  final Configuration conf;
  final PendingPersists disk;
  private final long origin;
  final PersistBatch persistBatch;
  final ApplyQueue applyQueue;
  private final MessageFilter messageFilter;

  final ElectionState election;
  private long readContext;
  private long snapshotTransfers;
  private long forwardSequence;
  private boolean removed;
  private boolean removalPublished;
  private boolean busy;

  /**
   * Starts as a follower with the recovered state. Calls no effects before {@link #start}.
   *
   * @param recovered state on disk
   * @param jitter draws election timeouts and contexts; two runs of a member must not draw the same
   *     numbers
   */
  public RaftCore(
      RaftState recovered, RaftSettings settings, RandomGenerator jitter, RaftEffects effects) {
    this.self = recovered.self();
    this.settings = settings;
    this.effects = effects;
    this.log = new RaftLog(recovered);
    this.conf = new Configuration(recovered, log);
    this.messageFilter = new MessageFilter(this);
    this.disk = new PendingPersists(recovered.hardState().term());
    this.persistBatch = new PersistBatch(effects, log, disk);
    this.applyQueue = new ApplyQueue(effects, log, settings, recovered.applied());
    // Numbers of a former run of this member must not be used again: a reply to them could still be
    // in flight.
    this.origin = jitter.nextLong();
    this.readContext = jitter.nextLong();
    this.election = new ElectionState(this, recovered.hardState(), jitter);
  }

  // ---- inputs

  /**
   * Must be called once, before any other input: applies committed entries, publishes the status,
   * and lets a sole voter campaign without waiting.
   */
  public void start() {
    begin();
    if (conf.membership().allVoters().equals(Set.of(self))) {
      election.campaign();
    }
    finish();
  }

  /** One tick passed. */
  public void tick() {
    begin();
    disk.tick();
    election.tick();
    finish();
  }

  /**
   * The process did not run for an election timeout or longer: another member may lead now. Must be
   * called before any other input after the pause. A leader proposes nothing until a quorum has
   * confirmed its term.
   */
  public void resumed() {
    begin();
    election.role().resumed();
    finish();
  }

  /** A message from another member arrived. */
  public void receive(NodeId from, PeerMessage message) {
    begin();
    if (message instanceof PeerMessage.Removed) {
      removed = true;
    } else if (messageFilter.admit(from, message)) {
      if (message instanceof PeerMessage.RequestVote request) {
        election.onRequestVote(from, request);
      } else if (message instanceof PeerMessage.ProposalsRejected rejected) {
        rejected.ids().forEach(id -> effects.reject(id, rejected.reason()));
      } else {
        election.role().receive(from, message);
      }
    }
    finish();
  }

  /**
   * Proposes operations, in order, with one persist for all of them. Each is refused ({@link
   * RaftEffects#reject}), or its entry is applied later, or its outcome is unknown because the
   * message or its leader was lost: the caller needs a timeout.
   */
  public void propose(List<Proposal> batch) {
    begin();
    if (!batch.isEmpty()) {
      election.role().propose(batch);
    }
    finish();
  }

  /**
   * True if entries are delayed until a follower replies, to share a message with later entries.
   */
  public boolean hasDelayedAppends() {
    return election.role().hasDelayedAppends();
  }

  /**
   * Sends delayed entries. Call it soon after {@link #hasDelayedAppends} returned true: a distant
   * follower replies late, and entries that wait for its reply take a further round trip.
   */
  public void flushDelayedAppends() {
    begin();
    election.role().flushDelayedAppends();
    finish();
  }

  /**
   * Proposes a membership change. The outcome is as with {@link #propose}. Refused with
   * TOO_MANY_REQUESTS while another change is in progress, or if the membership is not the one
   * against which the change was checked: check again and retry. Also refused if it is invalid, or
   * promotes a learner that lags.
   */
  public void proposeConfChange(ConfProposal proposal) {
    begin();
    election.role().proposeConfChange(proposal);
    finish();
  }

  /**
   * Transfers the leadership to {@code to} (a leader only). The outcome is a new leader, or {@link
   * RaftEffects#transferRefused}; nothing happens if {@code to} leads already.
   */
  public void transferLeadership(NodeId to) {
    begin();
    election.role().transferLeadership(to);
    finish();
  }

  /**
   * Before a clean stop: a leader transfers leadership to the best prepared voter, if one replies.
   * Does nothing on other members.
   */
  public void handOver() {
    begin();
    election.role().handOver();
    finish();
  }

  /**
   * The transfer of a snapshot to {@code to} finished; see {@link RaftEffects#sendSnapshot}.
   *
   * @param transfer its number; any but the newest transfer to a member is ignored
   * @param index last index that the snapshot covers
   */
  public void snapshotSent(NodeId to, long transfer, long index, boolean ok) {
    begin();
    election.role().snapshotSent(to, transfer, index, ok);
    finish();
  }

  /**
   * The result of {@link RaftEffects#readLog}.
   *
   * @param from as in the call
   * @param entries contiguous from {@code from} on, fewer than requested if they are long; empty if
   *     they are compacted
   * @throws Invariant.Broken if they are not the entries of this log
   */
  public void logRead(NodeId to, long from, List<Entry> entries) {
    begin();
    election.role().logRead(to, from, List.copyOf(entries));
    finish();
  }

  /**
   * Requests a read index that covers everything acknowledged before this call.
   *
   * @param readId unique in this run; passed to {@link RaftEffects#releaseRead} or {@link
   *     RaftEffects#rejectRead}, or to neither if no majority replies
   */
  public void requestRead(long readId) {
    requestRead(readId, NodeId.NONE);
  }

  /**
   * As {@link #requestRead(long)}. A leader releases the read at once if it and {@code supporter}
   * are a quorum.
   *
   * @param supporter a member whose term was the current one after the reader sent its request;
   *     NONE if there is none
   */
  public void requestRead(long readId, NodeId supporter) {
    begin();
    election.role().requestRead(readId, supporter);
    finish();
  }

  /**
   * The disk completed: the persist or installation of this number and all before it are durable.
   *
   * @param number passed to {@link RaftEffects#persist}; greater than in the previous call
   * @throws Invariant.Broken if no persist of this number is pending
   */
  public void persisted(long number) {
    begin();
    log.stableTo(disk.completed(number));
    election.role().durable();
    finish();
  }

  /** The state machine has applied everything up to {@code index}. */
  public void applied(long index) {
    begin();
    applyQueue.applied(index);
    applyQueue.freeStoredByAll(election.role().storedByAll());
    finish();
  }

  /**
   * A durable snapshot covers everything up to {@code index}: the log is compacted up to there. The
   * state machine has applied these entries, but its report of that may arrive later.
   */
  public void compactLog(long index) {
    begin();
    Invariant.require(
        index <= applyQueue.lastSent(),
        "snapshot past the entries sent to the state machine",
        index,
        applyQueue.lastSent());
    log.compactTo(index);
    finish();
  }

  /** Current status of this member. */
  public RaftStatus status() {
    return new RaftStatus(
        election.role().kind(),
        term(),
        leader(),
        log.commit(),
        applyQueue.applied(),
        log.lastIndex(),
        log.firstIndex());
  }

  /** The membership in effect. */
  public Membership membership() {
    return conf.membership();
  }

  /** Number of the next transfer of a snapshot. */
  long nextSnapshotTransfer() {
    return ++snapshotTransfers;
  }

  /** Replication status of the peers; null if this member does not lead. */
  public @Nullable ReplicationStatus replication() {
    return election.role().replicationStatus();
  }

  // ---- one input

  private void begin() {
    Invariant.require(!busy, "called from inside an effect, or after a violation");
    busy = true;
  }

  /**
   * Publishes the outcome of the input: at most one persist, then entries to apply, then changes of
   * membership, role, term and leader.
   */
  private void finish() {
    election.role().completeInput();
    conf.checkPending();
    persistBatch.flush(term(), election.vote());
    applyQueue.applyCommitted();
    publishMembership();
    election.publishRole();
    busy = false;
  }

  private void publishMembership() {
    if (conf.pollChange()) {
      effects.membershipChanged(conf.membership());
      removed |= conf.membership().removed().contains(self);
    }
    if (removed && !removalPublished) {
      removalPublished = true;
      effects.removed();
    }
  }

  // ---- for roles and their parts

  long term() {
    return election.term();
  }

  NodeId leader() {
    return election.leader();
  }

  /** True if this member was removed from the cluster. */
  boolean isRemoved() {
    return removed;
  }

  /** True if the disk has not completed a pending persist for too long. */
  boolean isDiskStalled() {
    int stall = settings.diskStallTicks();
    return stall > 0 && disk.ticksWithoutCompletion() >= stall;
  }

  /** Everything up to {@code index} is committed; an older index changes nothing. */
  void commitTo(long index) {
    if (log.commitTo(index)) {
      conf.committedTo(index);
    }
  }

  /** A snapshot replaces log and state. */
  void install(SnapshotMark mark) {
    long commitBefore = log.commit();
    log.restart(mark.index(), mark.term());
    conf.restart(mark.membership());
    applyQueue.restart(mark.index());
    persistBatch.install(mark, commitBefore);
  }

  /**
   * Appends entries to the log, or replaces the entries that conflict with them, and persists them.
   */
  void appendEntries(List<Entry> entries) {
    if (entries.isEmpty()) {
      return;
    }
    long from = entries.get(0).index();
    if (from <= log.lastIndex()) {
      log.truncateFrom(from);
      disk.truncatedFrom(from);
      conf.truncatedFrom(from);
    }
    for (int i = 0; i < entries.size(); i++) {
      log.append(entries.get(i));
    }
    conf.appended(entries);
    persistBatch.stage(entries);
  }

  void rejectAll(List<Proposal> batch, Refusal reason) {
    for (Proposal proposal : batch) {
      effects.reject(proposal.id(), reason);
    }
  }

  PeerMessage forwarded(List<Proposal> batch) {
    return new PeerMessage.ForwardedProposals(term(), origin, ++forwardSequence, batch);
  }

  PeerMessage forwarded(ConfProposal proposal) {
    return new PeerMessage.ForwardedConfChange(term(), origin, ++forwardSequence, proposal);
  }

  long nextReadContext() {
    readContext++;
    if (readContext == 0) {
      readContext++;
    }
    return readContext;
  }
}
