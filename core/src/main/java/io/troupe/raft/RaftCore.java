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
 * when its effects are told; the same start and the same inputs give the same effects. A thrown
 * {@link Invariant.Broken} ends the member: nothing may be called afterwards. {@link ElectionState} has
 * the table of roles and terms.
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
  final PersistBatch outbox;
  final ApplyQueue handout;
  private final MessageFilter admission;

  final ElectionState standing;
  private long readContext;
  private long snapshotTransfers;
  private long forwardSequence;
  private boolean expelled;
  private boolean toldRemoved;
  private boolean busy;

  /**
   * A member as it was when it stopped, a follower. Tells no effects before {@link #start}.
   *
   * @param recovered what is on disk
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
    this.admission = new MessageFilter(this);
    this.disk = new PendingPersists(recovered.hardState().term());
    this.outbox = new PersistBatch(effects, log, disk);
    this.handout = new ApplyQueue(effects, log, settings, recovered.applied());
    // Numbers that a former run of this member gave out must not come again: an answer to them
    // could still be in flight.
    this.origin = jitter.nextLong();
    this.readContext = jitter.nextLong();
    this.standing = new ElectionState(this, recovered.hardState(), jitter);
  }

  // ---- inputs

  /**
   * Begins, once, before any other input: hands out what was committed but not applied, tells the
   * status, and lets a sole voter campaign without waiting.
   */
  public void start() {
    begin();
    if (conf.membership().allVoters().equals(Set.of(self))) {
      standing.campaign();
    }
    finish();
  }

  /** One tick of time passed. */
  public void tick() {
    begin();
    disk.tick();
    standing.tick();
    finish();
  }

  /**
   * The process did not run for an election timeout or longer: another member may lead by now. The
   * next input comes after this. A leader proposes nothing until a quorum has confirmed its term.
   */
  public void resumed() {
    begin();
    standing.role().resumed();
    finish();
  }

  /** A message came from another member. */
  public void receive(NodeId from, PeerMessage message) {
    begin();
    if (message instanceof PeerMessage.Removed) {
      expelled = true;
    } else if (admission.admit(from, message)) {
      if (message instanceof PeerMessage.RequestVote request) {
        standing.onRequestVote(from, request);
      } else if (message instanceof PeerMessage.ProposalsRejected rejected) {
        rejected.ids().forEach(id -> effects.reject(id, rejected.reason()));
      } else {
        standing.role().receive(from, message);
      }
    }
    finish();
  }

  /**
   * Proposes operations, in order, with one persist for all of them. Each is refused ({@link
   * RaftEffects#reject}), or its entry is applied some day, or its fate is unknown, because it or
   * its leader was lost: the caller needs a timeout.
   */
  public void propose(List<Proposal> batch) {
    begin();
    if (!batch.isEmpty()) {
      standing.role().propose(batch);
    }
    finish();
  }

  /**
   * True if entries wait for the answer of a follower, to share a message with what comes until
   * then.
   */
  public boolean hasDelayedAppends() {
    return standing.role().hasDelayedAppends();
  }

  /**
   * Entries that wait go now. To be called soon after {@link #hasDelayedAppends}: a follower that is far
   * away answers late, and what waits for that takes a round trip more.
   */
  public void flushDelayedAppends() {
    begin();
    standing.role().flushDelayedAppends();
    finish();
  }

  /**
   * Proposes a change of the membership. Its fate is as with {@link #propose}. Refused with
   * TOO_MANY_REQUESTS while another one is in progress, or if the membership is not the one it was
   * checked against: check again and repeat. Refused too if it makes no sense, or promotes a
   * learner that lags.
   */
  public void proposeConfChange(ConfProposal proposal) {
    begin();
    standing.role().proposeConfChange(proposal);
    finish();
  }

  /**
   * Transfers the leadership to {@code to} (a leader only). The outcome is a new leader, or {@link
   * RaftEffects#transferRefused}; nothing happens if {@code to} leads already.
   */
  public void transferLeadership(NodeId to) {
    begin();
    standing.role().transferLeadership(to);
    finish();
  }

  /**
   * Before a clean end: a leader passes on to the voter that is best prepared, if any answers.
   * Nothing happens on other members.
   */
  public void handOver() {
    begin();
    standing.role().handOver();
    finish();
  }

  /**
   * The transfer of a snapshot to {@code to} ended; see {@link RaftEffects#sendSnapshot}.
   *
   * @param transfer its number; the end of any but the newest transfer to a member is ignored
   * @param index last index that the snapshot covers
   */
  public void snapshotSent(NodeId to, long transfer, long index, boolean ok) {
    begin();
    standing.role().snapshotSent(to, transfer, index, ok);
    finish();
  }

  /**
   * The answer to {@link RaftEffects#readLog}.
   *
   * @param from as in the question
   * @param entries contiguous from {@code from} on, fewer than asked for if they are long; empty if
   *     they are gone
   * @throws Invariant.Broken if they are not the entries of this log
   */
  public void logRead(NodeId to, long from, List<Entry> entries) {
    begin();
    standing.role().logRead(to, from, List.copyOf(entries));
    finish();
  }

  /**
   * Asks for a read index that covers everything acknowledged before this call.
   *
   * @param readId unique in this run; comes back in {@link RaftEffects#releaseRead} or {@link
   *     RaftEffects#rejectRead}, or never if no majority answers
   */
  public void requestRead(long readId) {
    begin();
    standing.role().requestRead(readId);
    finish();
  }

  /**
   * The disk answers: the persist or installation of this number and all before it are durable.
   *
   * @param number given with {@link RaftEffects#persist}; greater than in the answer before
   * @throws Invariant.Broken if no such one is pending
   */
  public void persisted(long number) {
    begin();
    log.stableTo(disk.answered(number));
    standing.role().durable();
    finish();
  }

  /** The state machine holds everything up to {@code index}. */
  public void applied(long index) {
    begin();
    handout.applied(index);
    finish();
  }

  /**
   * A durable snapshot covers everything up to {@code index}, which is applied: older entries are
   * forgotten.
   */
  public void compactLog(long index) {
    begin();
    Invariant.require(
        index <= handout.applied(), "snapshot past the applied index", index, handout.applied());
    log.compactTo(index);
    finish();
  }

  /** Where this member stands. */
  public RaftStatus status() {
    return new RaftStatus(
        standing.role().kind(),
        term(),
        leader(),
        log.commit(),
        handout.applied(),
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

  /** What a leader knows of the others; null if this member does not lead. */
  public @Nullable ReplicationStatus replication() {
    return standing.role().replicationStatus();
  }

  // ---- one input

  private void begin() {
    Invariant.require(!busy, "called from inside an effect, or after a violation");
    busy = true;
  }

  /**
   * Tells what the input gathered: at most one persist, then what may be applied, then changes of
   * membership and standing.role().
   */
  private void finish() {
    standing.role().settle();
    conf.checkPending();
    outbox.flush(term(), standing.vote());
    handout.handOut();
    publishMembership();
    standing.publishRole();
    busy = false;
  }

  private void publishMembership() {
    if (conf.pollChange()) {
      effects.membershipChanged(conf.membership());
      expelled |= conf.membership().removed().contains(self);
    }
    if (expelled && !toldRemoved) {
      toldRemoved = true;
      effects.removed();
    }
  }

  // ---- for roles and their parts

  long term() {
    return standing.term();
  }

  NodeId leader() {
    return standing.leader();
  }

  /** True if this member was removed for good. */
  boolean isRemoved() {
    return expelled;
  }

  /** True if the disk owes an answer for too long. */
  boolean isDiskStalled() {
    int stall = settings.diskStallTicks();
    return stall > 0 && disk.ticksWithoutAnswer() >= stall;
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
    handout.restart(mark.index());
    outbox.install(mark, commitBefore);
  }

  /**
   * Puts entries at the end of the log, or in place of what does not agree with them, and has them
   * persisted.
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
    outbox.stage(entries);
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
