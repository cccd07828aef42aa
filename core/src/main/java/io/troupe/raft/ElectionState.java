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
 * from            to              cause                                                            term
 * FOLLOWER        PRE_CANDIDATE   no word from a leader for the election timeout; start of a       same
 *                                 sole voter
 * PRE_CANDIDATE   CANDIDATE       a quorum would vote for it                                       + 1
 * PRE_CANDIDATE   PRE_CANDIDATE   election timeout                                                 same
 * CANDIDATE       LEADER          a quorum voted for it, its own durable vote included             same
 * CANDIDATE       PRE_CANDIDATE   election timeout                                                 same
 * PRE_CANDIDATE,  FOLLOWER        a quorum is out of reach; a leader of this term speaks           same
 *   CANDIDATE
 * FOLLOWER        CANDIDATE       the leader asks for it (transfer)                                + 1
 * LEADER          FOLLOWER        no quorum answered for electionTicks; the disk is stuck; the     same
 *                                 membership without it is committed
 * any             FOLLOWER        a message of a higher term (but see Admission)               higher
 * FOLLOWER        FOLLOWER        the leader of this term makes itself known                       same
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

  /** A follower, as recovered. */
  ElectionState(RaftCore core, HardState recovered, RandomGenerator jitter) {
    this.core = core;
    this.jitter = jitter;
    this.term = recovered.term();
    this.vote = recovered.vote();
    this.role = new FollowerRole(core);
    // A cluster that starts has no leader that could still be heard; one that has is not disturbed
    // by pre-votes. A little time is left for those that started earlier to win.
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

  /** Tells what changed since the last time. */
  void publishRole() {
    if (role.kind() != publishedRole || term != publishedTerm || !leader.equals(publishedLeader)) {
      publishedRole = role.kind();
      publishedTerm = term;
      publishedLeader = leader;
      core.effects.roleChanged(core.status());
    }
  }

  /** True if candidates are not to disturb: a leader was heard lately, or leads here. */
  boolean hasWorkingLeader() {
    // A leader counts as working until its own check of the quorum fails.
    return role.kind() == RaftRole.LEADER
        || (!leader.isNone() && ticksInRole < core.settings.electionTicks());
  }

  /** Votes, or says what it would vote. */
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
      core.outbox.hardStateChanged();
    }
    if (granted) {
      ticksInRole = 0;
    }
    core.outbox.promise(from, new PeerMessage.VoteReply(term, false, granted));
  }

  // ---- changes of role and term

  /** Follows {@code newLeader} (perhaps not known yet) in {@code newTerm}. */
  void becomeFollower(long newTerm, NodeId newLeader) {
    Invariant.require(newTerm >= term, "term sinks", newTerm, term);
    role.leave();
    if (newTerm > term) {
      term = newTerm;
      vote = NodeId.NONE;
      core.outbox.hardStateChanged();
    }
    leader = newLeader;
    become(new FollowerRole(core));
  }

  /** The election timeout passed: asks around before standing for election. */
  void campaign() {
    Invariant.require(role.kind() != RaftRole.LEADER, "leader campaigns");
    role.leave();
    leader = NodeId.NONE;
    become(new PreCandidateRole(core));
  }

  /** The leader asked for it: stands for election without asking around, if it may. */
  void campaignAtOnce() {
    if (mayCampaign()) {
      becomeCandidate(true);
    }
  }

  /** With {@code transfer} because the leader asked for it, else after a pre-vote. */
  void becomeCandidate(boolean transfer) {
    Invariant.require(
        role.kind() == (transfer ? RaftRole.FOLLOWER : RaftRole.PRE_CANDIDATE),
        "candidate without a cause");
    role.leave();
    term++;
    vote = core.self;
    leader = NodeId.NONE;
    core.outbox.hardStateChanged();
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

  /** True if the patience is over and this member may stand. */
  boolean isTimeToCampaign() {
    return ticksInRole >= electionTimeout && mayCampaign();
  }

  /**
   * True once each time the patience is over while this member may not stand because of its part in
   * the membership.
   */
  boolean isTimeToAsk() {
    if (ticksInRole < electionTimeout || mayLead() || core.isRemoved()) {
      return false;
    }
    ticksInRole = 0;
    leader = NodeId.NONE;
    drawElectionTimeout();
    return true;
  }

  /** True if this member may stand for election at all. */
  boolean mayCampaign() {
    return mayLead() && !core.isRemoved() && !core.isDiskStalled();
  }

  /**
   * Learners do not (M12). A leaving member does, without counting itself: it may be the only one
   * that knows the joint membership to have ended, and have too much in its log to vote for others.
   */
  private boolean mayLead() {
    Membership membership = core.conf.membership();
    return membership.isVoter(core.self) || membership.leaving().contains(core.self);
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

  void promiseToOtherVoters(PeerMessage message) {
    for (NodeId voter : core.conf.membership().allVoters()) {
      if (!voter.equals(core.self)) {
        core.outbox.promise(voter, message);
      }
    }
  }
}
