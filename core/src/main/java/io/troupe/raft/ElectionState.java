package io.troupe.raft;

import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.Membership;
import java.util.random.RandomGenerator;

/**
 * Term, vote, leader and role of one member.
 *
 * <p>Only this class changes role and term. Legal moves:
 *
 * <pre>
 * from            to              cause                                                      term
 * FOLLOWER        PRE_CANDIDATE   no message from a leader for the election timeout; start   same
 *                                 of a sole voter
 * PRE_CANDIDATE   CANDIDATE       a quorum would vote for it                                 + 1
 * PRE_CANDIDATE   PRE_CANDIDATE   election timeout                                           same
 * CANDIDATE       LEADER          a quorum voted for it, including its own durable vote      same
 * CANDIDATE       PRE_CANDIDATE   election timeout                                           same
 * PRE_CANDIDATE,  FOLLOWER        a quorum cannot be reached any more; a message of a        same
 *   CANDIDATE                     leader of this term
 * FOLLOWER        CANDIDATE       the leader requests it (transfer)                          + 1
 * LEADER          FOLLOWER        no quorum replied for electionTicks; the disk does not     same
 *                                 complete I/O; the membership without it is committed
 * any             FOLLOWER        a message of a higher term (but see MessageFilter)         higher
 * FOLLOWER        FOLLOWER        a message of the leader of this term                       same
 * </pre>
 *
 * @source Raft dissertation, chapters 3, 6 and 9.6
 */
final class ElectionState {
  private final RaftCore core;
  private final RandomGenerator jitter;
  private long term;
  private NodeId vote;
  private NodeId leader = NodeId.NONE;
  private Role role;
  private RaftRole publishedRole = RaftRole.FOLLOWER;
  private long publishedTerm = -1;
  private NodeId publishedLeader = NodeId.NONE;
  private int ticksInRole;
  private int electionTimeout;

  /** Starts as a follower with the recovered state. */
  ElectionState(RaftCore core, HardState recovered, RandomGenerator jitter) {
    this.core = core;
    this.jitter = jitter;
    this.term = recovered.term();
    this.vote = recovered.vote();
    this.role = new FollowerRole(core);
    // A cluster that starts has no leader that could be disturbed, and a running leader is not
    // disturbed by pre-votes. So the first timeout is short, but long enough for members that
    // started earlier to win.
    int electionTicks = core.settings.electionTicks();
    electionTimeout = (electionTicks + 3) / 4 + jitter.nextInt(electionTicks);
  }

  long term() {
    return term;
  }

  NodeId vote() {
    return vote;
  }

  NodeId leader() {
    return leader;
  }

  Role role() {
    return role;
  }

  void tick() {
    ticksInRole++;
    role.tick();
  }

  /** Publishes role, term and leader if they changed. */
  void publishRole() {
    if (role.kind() != publishedRole || term != publishedTerm || !leader.equals(publishedLeader)) {
      publishedRole = role.kind();
      publishedTerm = term;
      publishedLeader = leader;
      core.effects.roleChanged(core.status());
    }
  }

  /** True if candidates must not disturb: a leader was heard recently, or this member leads. */
  boolean hasWorkingLeader() {
    // A leader counts as working until its own check-quorum fails.
    return role.kind() == RaftRole.LEADER
        || (!leader.isNone() && ticksInRole < core.settings.electionTicks());
  }

  /** Votes, or replies how it would vote. */
  void onRequestVote(NodeId from, PeerMessage.RequestVote request) {
    boolean upToDate = core.log.isUpToDate(request.lastIndex(), request.lastTerm());
    if (request.preVote()) {
      boolean granted = upToDate && request.term() > term;
      core.effects.send(
          from, new PeerMessage.VoteReply(granted ? request.term() : term, true, granted));
      return;
    }
    boolean free = vote.equals(from) || (vote.isNone() && leader.isNone());
    boolean granted = upToDate && free;
    if (granted && vote.isNone()) {
      vote = from;
      core.persistBatch.hardStateChanged();
    }
    if (granted) {
      ticksInRole = 0;
    }
    core.persistBatch.sendAfterPersist(from, new PeerMessage.VoteReply(term, false, granted));
  }

  // ---- changes of role and term

  /** Follows {@code newLeader} (perhaps still unknown) in {@code newTerm}. */
  void becomeFollower(long newTerm, NodeId newLeader) {
    Invariant.require(newTerm >= term, "term decreased", newTerm, term);
    role.leave();
    if (newTerm > term) {
      term = newTerm;
      vote = NodeId.NONE;
      core.persistBatch.hardStateChanged();
    }
    leader = newLeader;
    become(new FollowerRole(core));
  }

  /** The election timeout passed: runs a pre-vote before an election. */
  void campaign() {
    Invariant.require(role.kind() != RaftRole.LEADER, "leader must not campaign");
    role.leave();
    leader = NodeId.NONE;
    become(new PreCandidateRole(core));
  }

  /** The leader requested it: starts an election without a pre-vote, if allowed. */
  void campaignWithoutPreVote() {
    if (mayCampaign()) {
      becomeCandidate(true);
    }
  }

  /** {@code transfer} is true if the leader requested it, false after a pre-vote. */
  void becomeCandidate(boolean transfer) {
    Invariant.require(
        role.kind() == (transfer ? RaftRole.FOLLOWER : RaftRole.PRE_CANDIDATE),
        "candidate without transfer or pre-vote");
    role.leave();
    term++;
    vote = core.self;
    leader = NodeId.NONE;
    core.persistBatch.hardStateChanged();
    become(new CandidateRole(core, transfer));
  }

  void becomeLeader() {
    Invariant.require(role.kind() == RaftRole.CANDIDATE, "leader without an election");
    role.leave();
    leader = core.self;
    become(new LeaderRole(core));
  }

  private void become(Role next) {
    role = next;
    ticksInRole = 0;
    drawElectionTimeout();
    role.enter();
  }

  private void drawElectionTimeout() {
    electionTimeout = core.settings.electionTicks() + jitter.nextInt(core.settings.electionTicks());
  }

  // ---- elections and the leader

  /** True if the election timeout expired and this member may campaign. */
  boolean isTimeToCampaign() {
    return ticksInRole >= electionTimeout && mayCampaign();
  }

  /**
   * True once each time the election timeout expires while this member may not campaign because of
   * its part in the membership.
   */
  boolean isTimeToFindLeader() {
    if (ticksInRole < electionTimeout || mayLead() || core.isRemoved()) {
      return false;
    }
    ticksInRole = 0;
    leader = NodeId.NONE;
    drawElectionTimeout();
    return true;
  }

  /** True if this member may campaign at all. */
  boolean mayCampaign() {
    return mayLead() && !core.isRemoved() && !core.isDiskStalled();
  }

  /**
   * Learners may not (M12). A leaving member may, without counting itself: it may be the only
   * member that knows that the joint membership ended, and its log may be too long to vote for
   * others.
   */
  private boolean mayLead() {
    Membership membership = core.conf.membership();
    return membership.isVoter(core.self) || membership.leaving().contains(core.self);
  }

  /** A message of the leader of this term arrived. */
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

  void sendToOtherVotersAfterPersist(PeerMessage message) {
    for (NodeId voter : core.conf.membership().allVoters()) {
      if (!voter.equals(core.self)) {
        core.persistBatch.sendAfterPersist(voter, message);
      }
    }
  }
}
