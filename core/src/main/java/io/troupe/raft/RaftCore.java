package io.troupe.raft;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.quorum.Quorum;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The Raft rules of one member. Not thread-safe: one caller. Every method is one input and returns
 * when its effects are told; the same start and the same inputs give the same effects. A thrown
 * {@link Invariant.Broken} ends the member: nothing may be called afterwards.
 *
 * <p>Only this class changes role and term. Legal moves:
 *
 * <pre>
 * from            to              cause                                                            term
 * FOLLOWER        PRE_CANDIDATE   no word from a leader for the election timeout; start of a       same
 *                                 sole voter
 * PRE_CANDIDATE   CANDIDATE       a quorum would vote for it                                       + 1
 * PRE_CANDIDATE   PRE_CANDIDATE   election timeout                                                 same
 * CANDIDATE       LEADER          a quorum voted for it, its own durable vote included             same
 * CANDIDATE       PRE_CANDIDATE   election timeout                                                 same
 * PRE_CANDIDATE,  FOLLOWER        a quorum is out of reach; a leader of this term speaks           same
 *   CANDIDATE
 * LEADER          FOLLOWER        no quorum answered for electionTicks; the disk is stuck          same
 * any             FOLLOWER        a message of a higher term (but see {@code admit})               higher
 * FOLLOWER        FOLLOWER        the leader of this term makes itself known                       same
 * </pre>
 *
 * @source Raft dissertation, chapters 3, 6 and 9.6
 */
public final class RaftCore {
  final NodeId self;
  final RaftSettings settings;
  private final RandomGenerator jitter;
  final RaftEffects effects;
  private final Membership membership;
  final Quorum quorum;
  final RaftLog log;
  final PendingPersists disk;
  private final long origin;
  final Outbox outbox;
  final Handout handout;

  private long term;
  private NodeId vote;
  private NodeId leader = NodeId.NONE;
  private Role role;
  private RaftRole toldRole = RaftRole.FOLLOWER;
  private long toldTerm = -1;
  private NodeId toldLeader = NodeId.NONE;
  private int ticksInRole;
  private int electionTimeout;
  private long readContext;
  private long forwardSequence;
  private boolean busy;

  /**
   * A member whose log is all there is: a follower that needs entries no longer in memory needs a
   * snapshot.
   */
  public RaftCore(
      RaftState recovered, RaftSettings settings, RandomGenerator jitter, RaftEffects effects) {
    this(recovered, settings, jitter, effects, LogReader.NONE);
  }

  /**
   * A member as it was when it stopped, a follower. Tells no effects before {@link #start}.
   *
   * @param recovered what is on disk
   * @param jitter draws election timeouts and contexts; two runs of a member must not draw the same
   *     numbers
   * @param reader for entries no longer in memory
   */
  public RaftCore(
      RaftState recovered,
      RaftSettings settings,
      RandomGenerator jitter,
      RaftEffects effects,
      LogReader reader) {
    this.self = recovered.self();
    this.settings = settings;
    this.jitter = jitter;
    this.effects = effects;
    this.membership = recovered.membership();
    this.quorum = membership.quorum();
    this.log = new RaftLog(recovered, reader);
    this.disk = new PendingPersists(recovered.hardState().term());
    this.term = recovered.hardState().term();
    this.vote = recovered.hardState().vote();
    this.outbox = new Outbox(effects, log, disk);
    this.handout = new Handout(effects, log, settings, recovered.applied());
    // Numbers that a former run of this member gave out must not come again: an answer to them
    // could still be on its way.
    this.origin = jitter.nextLong();
    this.readContext = jitter.nextLong();
    this.role = new FollowerRole(this);
    drawElectionTimeout();
  }

  // ---- inputs

  /**
   * Begins, once, before any other input: hands out what was committed but not applied, tells the
   * status, and lets a sole voter campaign without waiting.
   */
  public void start() {
    begin();
    if (membership.voters().size() == 1 && membership.isVoter(self)) {
      campaign();
    }
    finish();
  }

  /** One tick of time passed. */
  public void tick() {
    begin();
    ticksInRole++;
    disk.tick();
    role.tick();
    finish();
  }

  /** A message came from another member. */
  public void receive(NodeId from, PeerMessage message) {
    begin();
    if (admit(from, message)) {
      if (message instanceof PeerMessage.RequestVote request) {
        onRequestVote(from, request);
      } else if (message instanceof PeerMessage.ProposalsRejected rejected) {
        rejected.ids().forEach(id -> effects.reject(id, rejected.reason()));
      } else {
        role.receive(from, message);
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
      role.propose(Entry.Kind.OPERATION, batch);
    }
    finish();
  }

  /**
   * Proposes a change of members or of their attributes, as an entry of kind CONF_CHANGE. The fate
   * is as with {@link #propose}; refused too while an earlier one is not applied yet. Applying it
   * leaves the voters of this core as they are.
   */
  public void proposeConfChange(RequestId id, Bytes change) {
    begin();
    role.propose(Entry.Kind.CONF_CHANGE, List.of(new Proposal(id, change)));
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
    role.requestRead(readId);
    finish();
  }

  /**
   * The disk answers a persist: it and all before it are durable.
   *
   * @param persistedTerm term of its hard state
   * @param lastIndex index of its last entry; without entries 0 or the end of the log
   * @throws Invariant.Broken if no such persist of this term is pending; an unknown one of an older
   *     term is ignored
   */
  public void persisted(long persistedTerm, long lastIndex) {
    begin();
    long durableTo = disk.answered(persistedTerm, lastIndex);
    if (durableTo >= 0) {
      log.stableTo(durableTo);
      role.durable();
    } else {
      Invariant.require(
          persistedTerm < term, "disk answered what was not asked", persistedTerm, lastIndex);
    }
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
        role.kind(),
        term,
        leader,
        log.commit(),
        handout.applied(),
        log.lastIndex(),
        log.firstIndex());
  }

  // ---- one input

  private void begin() {
    Invariant.require(!busy, "called from inside an effect, or after a violation");
    busy = true;
  }

  /**
   * Tells what the input gathered: at most one persist, then what may be applied, then the role.
   */
  private void finish() {
    outbox.flush(term, vote);
    handout.handOut();
    tellRole();
    busy = false;
  }

  private void tellRole() {
    if (role.kind() != toldRole || term != toldTerm || !leader.equals(toldLeader)) {
      toldRole = role.kind();
      toldTerm = term;
      toldLeader = leader;
      effects.roleChanged(status());
    }
  }

  /**
   * Settles the question of terms. A message of an older term is void; whoever still leads in it is
   * told. A higher term makes a follower, with three exceptions: a vote that is asked for while a
   * leader is at work (leader stickiness), a pre-vote, and a granted pre-vote, because nobody is in
   * the term those speak of.
   *
   * @return true if the message is to be handled
   */
  private boolean admit(NodeId from, PeerMessage message) {
    if (message.term() < term) {
      if (Role.isFromLeader(message)) {
        outbox.promise(from, new PeerMessage.AppendReply(term, true, 0, 0, 0));
      } else if (message instanceof PeerMessage.RequestVote request) {
        outbox.promise(from, new PeerMessage.VoteReply(term, request.preVote(), false));
      }
      return false;
    }
    if (message.term() == term) {
      return true;
    }
    if (message instanceof PeerMessage.RequestVote request) {
      if (hasWorkingLeader()) {
        return false;
      }
      if (request.preVote()) {
        return true;
      }
    } else if (message instanceof PeerMessage.VoteReply reply
        && reply.preVote()
        && reply.granted()) {
      return true;
    }
    becomeFollower(message.term(), Role.isFromLeader(message) ? from : NodeId.NONE);
    return true;
  }

  private boolean hasWorkingLeader() {
    // A leader counts as working until its own check of the quorum fails.
    return role.kind() == RaftRole.LEADER
        || (!leader.isNone() && ticksInRole < settings.electionTicks());
  }

  private void onRequestVote(NodeId from, PeerMessage.RequestVote request) {
    boolean upToDate = log.isUpToDate(request.lastIndex(), request.lastTerm());
    if (request.preVote()) {
      boolean granted = upToDate && request.term() > term;
      effects.send(from, new PeerMessage.VoteReply(granted ? request.term() : term, true, granted));
      return;
    }
    boolean free = vote.equals(from) || (vote.isNone() && leader.isNone());
    boolean granted = upToDate && free;
    if (granted && vote.isNone()) {
      vote = from;
      outbox.hardStateChanged();
    }
    if (granted) {
      ticksInRole = 0;
    }
    outbox.promise(from, new PeerMessage.VoteReply(term, false, granted));
  }

  // ---- changes of role and term

  /** Follows {@code newLeader} (perhaps not known yet) in {@code newTerm}. */
  void becomeFollower(long newTerm, NodeId newLeader) {
    Invariant.require(newTerm >= term, "term sinks", newTerm, term);
    role.leave();
    if (newTerm > term) {
      term = newTerm;
      vote = NodeId.NONE;
      outbox.hardStateChanged();
    }
    leader = newLeader;
    become(new FollowerRole(this));
  }

  /** The election timeout passed: asks around before standing for election. */
  void campaign() {
    Invariant.require(role.kind() != RaftRole.LEADER, "leader campaigns");
    role.leave();
    leader = NodeId.NONE;
    become(new PreCandidateRole(this));
  }

  void becomeCandidate() {
    Invariant.require(role.kind() == RaftRole.PRE_CANDIDATE, "candidate without a pre-vote");
    role.leave();
    term++;
    vote = self;
    outbox.hardStateChanged();
    become(new CandidateRole(this));
  }

  void becomeLeader() {
    Invariant.require(role.kind() == RaftRole.CANDIDATE, "leader without an election");
    role.leave();
    leader = self;
    become(new LeaderRole(this));
  }

  private void become(Role next) {
    role = next;
    ticksInRole = 0;
    drawElectionTimeout();
    role.enter();
  }

  private void drawElectionTimeout() {
    electionTimeout = settings.electionTicks() + jitter.nextInt(settings.electionTicks());
  }

  // ---- for the roles

  long term() {
    return term;
  }

  NodeId leader() {
    return leader;
  }

  /** All members but this one, ascending, voters first. */
  List<NodeId> others() {
    List<NodeId> others = new ArrayList<>(membership.voters());
    others.addAll(membership.learners());
    others.remove(self);
    return others;
  }

  /**
   * True if the patience is over and this member may stand. Learners do not stand for election
   * (M12), nor does a member whose disk is stuck.
   */
  boolean isTimeToCampaign() {
    int stall = settings.diskStallTicks();
    return ticksInRole >= electionTimeout
        && membership.isVoter(self)
        && (stall == 0 || disk.ticksWithoutAnswer() < stall);
  }

  /** The leader of this term spoke. */
  void heardFromLeader(NodeId from) {
    if (leader.isNone()) {
      leader = from;
    }
    Invariant.require(leader.equals(from), "two leaders in one term", leader.value(), from.value());
    ticksInRole = 0;
  }

  /** Handles a message again after the role changed because of it. */
  void redispatch(NodeId from, PeerMessage message) {
    role.receive(from, message);
  }

  /**
   * Puts entries at the end of the log, or in place of what does not agree with them, and has them
   * persisted.
   */
  void takeOver(List<Entry> entries) {
    if (entries.isEmpty()) {
      return;
    }
    long from = entries.get(0).index();
    if (from <= log.lastIndex()) {
      log.truncateFrom(from);
      disk.truncatedFrom(from);
    }
    for (int i = 0; i < entries.size(); i++) {
      log.append(entries.get(i));
    }
    outbox.stage(entries);
  }

  void promiseToOtherVoters(PeerMessage message) {
    for (NodeId voter : membership.voters()) {
      if (!voter.equals(self)) {
        outbox.promise(voter, message);
      }
    }
  }

  void sendToOtherVoters(PeerMessage message) {
    for (NodeId voter : membership.voters()) {
      if (!voter.equals(self)) {
        effects.send(voter, message);
      }
    }
  }

  void rejectAll(List<Proposal> batch, Refusal reason) {
    for (Proposal proposal : batch) {
      effects.reject(proposal.id(), reason);
    }
  }

  PeerMessage forwarded(Entry.Kind kind, List<Proposal> batch) {
    return new PeerMessage.ForwardedProposals(term, origin, ++forwardSequence, kind, batch);
  }

  long nextReadContext() {
    readContext++;
    if (readContext == 0) {
      readContext++;
    }
    return readContext;
  }
}
