package io.troupe.raft;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.raft.membership.MembershipRules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Creates the entries of its term and replicates them. Its own disk is one voter among several:
 * entries that it has not made durable do not count there, and a leader whose followers are faster
 * commits without its own disk.
 *
 * @source Raft dissertation 3.5, 3.6, 4.3 (joint consensus), 6.2 (check-quorum)
 */
final class LeaderRole extends Role {
  private final Replication replication;
  private final ReadRounds reads;
  private final Transfer transfer;
  private final Map<Long, ReplayWindow> forwarded = new HashMap<>();
  private Membership followed;
  private int ticksSinceHeartbeat;
  private int ticksSinceQuorumCheck;
  private long firstOwnIndex;
  private final HeldProposals held;

  /**
   * Number of pauses of the process, and the last pause after which a quorum confirmed the term.
   */
  private long pauses;

  private long confirmedPauses;

  LeaderRole(RaftCore core) {
    super(core);
    this.replication = new Replication(core);
    this.reads = new ReadRounds(core, this);
    this.transfer = new Transfer(core, replication);
    this.followed = core.conf.membership();
    this.held = new HeldProposals(core.settings);
  }

  @Override
  RaftRole kind() {
    return RaftRole.LEADER;
  }

  @Override
  void enter() {
    firstOwnIndex = core.log.lastIndex() + 1;
    replication.follow(followed.members(), false);
    // Entries of earlier terms become committed only through one of this term (5.4.2), so the
    // leader must append one.
    append(Entry.Kind.NOOP, Bytes.EMPTY);
  }

  @Override
  void leave() {
    reads.refuseAll();
    // These proposals are in no log, and repetitions of them are not accepted any more.
    for (HeldProposals.Batch batch : held.drain()) {
      if (batch.from().equals(core.self)) {
        core.rejectAll(batch.proposals(), Refusal.NO_LEADER);
      } else {
        refuse(batch.from(), ids(batch.proposals()), Refusal.NO_LEADER);
      }
    }
  }

  @Override
  void resumed() {
    reads.confirm(++pauses);
  }

  /** A quorum followed this leader after that pause. */
  void confirmed(long pause) {
    confirmedPauses = pause;
    if (isInDoubt()) {
      return;
    }
    for (HeldProposals.Batch batch : held.drain()) {
      if (batch.from().equals(core.self)) {
        propose(batch.proposals());
      } else {
        onForwarded(batch.from(), batch.proposals());
      }
    }
  }

  /** True after a pause of the process until a quorum has confirmed the term. */
  private boolean isInDoubt() {
    return confirmedPauses < pauses;
  }

  boolean hasCommittedInTerm() {
    return core.log.commit() >= firstOwnIndex;
  }

  @Override
  void tick() {
    if (core.isDiskStalled()) {
      stepDown();
      return;
    }
    replication.tick();
    if (++ticksSinceQuorumCheck >= core.settings.electionTicks()) {
      ticksSinceQuorumCheck = 0;
      if (!replication.takeActiveQuorum()) {
        core.election.becomeFollower(core.term(), NodeId.NONE);
        return;
      }
    }
    transfer.tick();
    if (++ticksSinceHeartbeat >= core.settings.heartbeatTicks()) {
      ticksSinceHeartbeat = 0;
      replication.all().values().forEach(Progress::suspectLoss);
      broadcastHeartbeats();
    }
  }

  /** Steps down immediately, so that the best successor need not wait for the election timeout. */
  private void stepDown() {
    NodeId successor = replication.bestSuccessor();
    if (!successor.isNone()) {
      core.effects.send(successor, new PeerMessage.TimeoutNow(core.term()));
    }
    core.election.becomeFollower(core.term(), NodeId.NONE);
  }

  @Override
  void receive(NodeId from, PeerMessage message) {
    Invariant.require(!isFromLeader(message), "two leaders in one term");
    Progress progress = replication.of(from);
    if (progress == null) {
      return;
    }
    if (message instanceof PeerMessage.AppendReply reply) {
      onAppendReply(from, progress, reply);
    } else if (message instanceof PeerMessage.HeartbeatReply reply) {
      onHeartbeatReply(from, progress, reply);
    } else if (message instanceof PeerMessage.ForwardedProposals proposals) {
      if (isFirst(proposals.origin(), proposals.sequence())) {
        onForwarded(from, proposals.proposals());
      }
    } else if (message instanceof PeerMessage.ForwardedConfChange change) {
      if (isFirst(change.origin(), change.sequence())) {
        Refusal refusal = take(change.proposal());
        if (refusal != null) {
          refuse(from, List.of(change.proposal().id()), refusal);
        }
      }
    } else if (message instanceof PeerMessage.ReadIndex request) {
      reads.requested(from, request.context());
    }
  }

  // ---- proposals

  @Override
  void propose(List<Proposal> batch) {
    List<Proposal> refused = take(core.self, batch);
    if (!refused.isEmpty()) {
      core.rejectAll(refused, reasonToRefuse());
    }
  }

  private void onForwarded(NodeId from, List<Proposal> batch) {
    List<Proposal> refused = take(from, batch);
    if (!refused.isEmpty()) {
      refuse(from, ids(refused), reasonToRefuse());
    }
  }

  private static List<RequestId> ids(List<Proposal> proposals) {
    return proposals.stream().map(Proposal::id).toList();
  }

  private Refusal reasonToRefuse() {
    return transfer.isActive() ? Refusal.LEADER_CHANGED : Refusal.TOO_MANY_REQUESTS;
  }

  private void refuse(NodeId from, List<RequestId> ids, Refusal reason) {
    core.effects.send(from, new PeerMessage.ProposalsRejected(core.term(), ids, reason));
  }

  private boolean isFirst(long origin, long sequence) {
    return forwarded.computeIfAbsent(origin, run -> new ReplayWindow()).take(sequence);
  }

  /** Appends the proposals that fit, or holds them; returns the rest. Both stay in order. */
  private List<Proposal> take(NodeId from, List<Proposal> batch) {
    if (isInDoubt()) {
      return held.add(from, batch);
    }
    if (transfer.isActive() || core.applyQueue.isLogMemoryFull()) {
      return batch;
    }
    long last = core.log.lastIndex();
    long space = core.applyQueue.makeSpace(batch.stream().mapToLong(LeaderRole::sizeOf).sum());
    List<Entry> entries = new ArrayList<>(batch.size());
    List<Proposal> refused = new ArrayList<>(0);
    for (Proposal proposal : batch) {
      long index = last + 1 + entries.size();
      // The last one may exceed the remaining space, otherwise none would fit into a small log.
      if (space > 0 && index - core.applyQueue.applied() <= core.settings.maxPending(proposal)) {
        space -= sizeOf(proposal);
        entries.add(new Entry(core.term(), index, Entry.Kind.OPERATION, proposal.operation()));
      } else {
        refused.add(proposal);
      }
    }
    if (!entries.isEmpty()) {
      core.appendEntries(Collections.unmodifiableList(entries));
      replication.broadcast();
    }
    return refused;
  }

  private static long sizeOf(Proposal proposal) {
    return proposal.operation().length() + (long) RaftLog.ENTRY_OVERHEAD_BYTES;
  }

  private boolean isFull() {
    return core.applyQueue.isLogMemoryFull()
        || core.log.lastIndex() - core.applyQueue.applied() >= core.settings.maxPendingProposals();
  }

  private void append(Entry.Kind kind, Bytes data) {
    long index = core.log.lastIndex() + 1;
    core.appendEntries(List.of(new Entry(core.term(), index, kind, data)));
    replication.broadcast();
  }

  // ---- membership

  @Override
  void proposeConfChange(ConfProposal proposal) {
    Refusal refusal = take(proposal);
    if (refusal != null) {
      core.effects.reject(proposal.id(), refusal);
    }
  }

  /** Appends the change; returns the reason for a refusal, or null. */
  private @Nullable Refusal take(ConfProposal proposal) {
    if (transfer.isActive()) {
      return Refusal.LEADER_CHANGED;
    }
    Membership membership = core.conf.membership();
    // One change at a time, checked against the outcome of the previous one. A new leader does not
    // know the previous change before an entry of its own term is committed.
    boolean quiet =
        hasCommittedInTerm()
            && !isInDoubt()
            && !core.conf.isChangePending()
            && core.applyQueue.applied() >= membership.version();
    if (!quiet || proposal.basis() != membership.version() || isFull()) {
      return Refusal.TOO_MANY_REQUESTS;
    }
    Refusal refusal = membership.refusalOf(proposal.changes());
    if (refusal != null) {
      return refusal;
    }
    for (ConfChange change : proposal.changes()) {
      if (change.kind() == ConfChange.Kind.PROMOTE && !isInSync(change.member())) {
        return Refusal.LEARNER_NOT_READY;
      }
    }
    long index = core.log.lastIndex() + 1;
    Membership after = membership.after(proposal.changes(), index);
    ConfEntry entry = new ConfEntry(proposal.id(), proposal.changes(), after);
    append(Entry.Kind.CONF_CHANGE, MembershipCodec.encode(entry));
    return null;
  }

  private boolean isInSync(NodeId member) {
    Progress progress = replication.of(member);
    return progress != null && MembershipRules.isInSync(progress.match(), core.log.lastIndex());
  }

  @Override
  void completeInput() {
    while (followed.version() != core.conf.membership().version()) {
      // Members that leave now must learn that they do.
      replication.sendCommitIndexToAll();
      followed = core.conf.membership();
      replication.follow(followed.members(), true);
      replication.broadcast();
      transfer.proceed();
      // The new voters may agree on more entries than the old ones.
      reads.recount();
      advanceCommit();
    }
    if (!followed.contains(core.self)) {
      stepDown();
    } else if (!followed.isTransitionComplete()
        && !core.conf.isChangePending()
        && hasCommittedInTerm()
        && !isInDoubt()) {
      ConfEntry entry = ConfEntry.following(followed, core.log.lastIndex() + 1);
      append(Entry.Kind.CONF_CHANGE, MembershipCodec.encode(entry));
    }
  }

  // ---- replication

  private void onAppendReply(NodeId from, Progress progress, PeerMessage.AppendReply reply) {
    if (replication.onAppendReply(from, progress, reply)) {
      advanceCommit();
      transfer.heard(from);
    }
    if (!reply.rejected()) {
      replication.sendCommitIndex(from, progress);
    }
  }

  private void advanceCommit() {
    RaftLog log = core.log;
    long index = replication.storedByQuorum();
    // Only entries of its own term are committed by counting (5.4.2); earlier ones are committed
    // with them.
    if (index > log.commit() && log.termAt(index) == core.term()) {
      core.commitTo(index);
      reads.open();
      replication.sendCommitIndexToAll();
    }
  }

  @Override
  void durable() {
    advanceCommit();
  }

  @Override
  boolean hasDelayedAppends() {
    return replication.hasDelayedAppends();
  }

  @Override
  void flushDelayedAppends() {
    replication.flushDelayedAppends();
  }

  @Override
  void snapshotSent(NodeId to, long transfer, long index, boolean ok) {
    replication.snapshotSent(to, transfer, index, ok);
  }

  @Override
  void logRead(NodeId to, long from, List<Entry> entries) {
    replication.logRead(to, from, entries);
  }

  @Override
  long storedByAll() {
    return replication.storedByAll();
  }

  @Override
  ReplicationStatus replicationStatus() {
    return replication.status();
  }

  // ---- transfer

  @Override
  void transferLeadership(NodeId to) {
    transfer.start(to);
  }

  @Override
  void handOver() {
    NodeId successor = replication.bestSuccessor();
    if (!transfer.isActive() && !successor.isNone()) {
      transfer.start(successor);
    }
  }

  // ---- heartbeats and reads

  void broadcastHeartbeats() {
    replication
        .all()
        .forEach(
            (to, progress) -> {
              // Never above the match index: the follower's log may differ there.
              long commit = Math.min(progress.match(), core.log.commit());
              core.effects.send(
                  to, new PeerMessage.Heartbeat(core.term(), commit, reads.context()));
            });
  }

  private void onHeartbeatReply(NodeId from, Progress progress, PeerMessage.HeartbeatReply reply) {
    progress.heard();
    // Not with every round of reads, which may be frequent.
    if (progress.takeSuspicion()) {
      replication.resume(from, progress);
    }
    reads.confirmed(from, reply.readContext());
  }

  @Override
  void requestRead(long readId) {
    if (!reads.add(new ReadQueue.Read(core.self, readId))) {
      core.effects.rejectRead(readId, Refusal.TOO_MANY_REQUESTS);
    }
  }

  @Override
  void requestRead(long readId, NodeId supporter) {
    if (!reads.releaseConfirmed(readId, supporter)) {
      requestRead(readId);
    }
  }
}
