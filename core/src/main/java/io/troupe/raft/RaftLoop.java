package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The rules of the raft actor around its {@link RaftCore}: it detects pauses of the process,
 * collects proposals into batches, flushes delayed appends, keeps the callers of reads and of
 * transfers of leadership, and proposes for the leadership of one term. While a snapshot is
 * installed it refuses all requests. One thread.
 *
 * <p>Every method up to {@link #status} is one input and returns after its effects; the status is
 * published after each input of the core.
 *
 * @param <C> identifies the caller of a proposal
 * @param <R> identifies a reader
 * @param <T> identifies the caller of a transfer of leadership
 */
public final class RaftLoop<C, R, T> {
  private final RaftCore core;
  private final RaftLoopEffects<C, R, T> effects;
  private final ProposalBatcher<C> proposals;
  private final PendingTransfers<T> transfers;
  private final PendingReads<R> reads;
  private final long electionNanos;

  /** Time of the last input of the core. */
  private long ranNanos;

  /** Term in which this member leads, as last reported; 0 if it does not lead. */
  private long leadingTerm;

  /** Term of the last published status; -1 before the first one. */
  private long publishedTerm = -1;

  private boolean flushScheduled;
  private boolean installing;

  /**
   * Starts with the recovered state. Calls no effects before {@link #start}.
   *
   * @param tickNanos length of a tick
   * @param jitter as for {@link RaftCore}
   */
  public RaftLoop(
      RaftState recovered,
      RaftSettings settings,
      long tickNanos,
      RandomGenerator jitter,
      RaftLoopEffects<C, R, T> effects) {
    this.effects = effects;
    this.electionNanos = settings.electionTicks() * tickNanos;
    this.reads = new PendingReads<>(effects);
    this.transfers = new PendingTransfers<>(effects);
    CoreEffects own = new CoreEffects();
    this.proposals = new ProposalBatcher<>(own);
    this.core = new RaftCore(recovered, settings, jitter, own);
  }

  // ---- one input of the core

  /**
   * Begins an input. Returns false while a snapshot is installed: it replaces log and state, and
   * the actors stop as soon as it is durable. Until then the effects of the core on its old state
   * must not reach the other actors. To the cluster this member seems to be down for a short time.
   */
  private boolean begin() {
    if (installing) {
      return false;
    }
    long now = effects.nanoTime();
    long idleNanos = now - ranNanos;
    ranNanos = now;
    // Ticks are far more frequent.
    if (idleNanos > electionNanos) {
      effects.paused(idleNanos);
      core.resumed();
    }
    return true;
  }

  private void end() {
    publish(core.status());
    if (!flushScheduled && core.hasDelayedAppends()) {
      flushScheduled = true;
      effects.flushDelayedAppendsLater();
    }
    if (installing) {
      refusePending();
    }
  }

  private void publish(RaftStatus status) {
    publishedTerm = status.term();
    effects.status(status);
  }

  private void refusePending() {
    for (C caller : proposals.drop()) {
      effects.proposalRefused(caller, Refusal.NO_LEADER);
    }
    reads.refuseAll(Refusal.NO_LEADER);
    transfers.refuseAll(Refusal.NOT_LEADER);
  }

  // ---- inputs: time

  /** Must be called once, before any other input, as {@link RaftCore#start}. */
  public void start() {
    ranNanos = effects.nanoTime();
    core.start();
    end();
  }

  /** One tick passed. */
  public void tick() {
    if (begin()) {
      core.tick();
      end();
    }
  }

  /** As requested by {@link RaftLoopEffects#flushDelayedAppendsLater}. */
  public void flushDelayedAppends() {
    flushScheduled = false;
    if (begin()) {
      core.flushDelayedAppends();
      end();
    }
  }

  // ---- inputs: callers

  /** Proposes an operation with the next batch. */
  public void propose(Proposal proposal, C caller) {
    if (installing) {
      effects.proposalRefused(caller, Refusal.NO_LEADER);
    } else {
      proposals.add(proposal, caller);
    }
  }

  /** Proposes the batch, as requested by {@link RaftLoopEffects#flushLater}. */
  public void flushProposals() {
    if (begin()) {
      proposals.flush();
      end();
    }
  }

  /**
   * Proposes an operation immediately, if this member leads in the term; refused with NOT_LEADER
   * otherwise. It is never forwarded.
   */
  public void proposeInTerm(long term, Proposal proposal, C caller) {
    if (!leadsIn(term)) {
      effects.proposalRefused(caller, Refusal.NOT_LEADER);
    } else if (begin()) {
      proposals.proposeNow(proposal, caller);
      end();
    }
  }

  /** Proposes a membership change, as {@link RaftCore#proposeConfChange}. */
  public void proposeConfChange(ConfProposal proposal, C caller) {
    if (installing) {
      effects.proposalRefused(caller, Refusal.NO_LEADER);
      return;
    }
    effects.expect(List.of(caller), core.term());
    if (begin()) {
      core.proposeConfChange(proposal);
      end();
    }
  }

  /** Requests a read index, as {@link RaftCore#requestRead}. */
  public void readIndex(R reader) {
    if (installing) {
      effects.readFailed(reader, Refusal.NO_LEADER);
    } else {
      read(NodeId.NONE, reader);
    }
  }

  /**
   * Confirms that this member still leads in the term: a read of the leader itself, which the core
   * refuses as soon as this member stops leading. Refused with NOT_LEADER if it does not lead in it
   * now.
   *
   * @param supporter as for {@link RaftCore#requestRead(long, NodeId)}
   */
  public void confirmLeadership(long term, NodeId supporter, R reader) {
    if (leadsIn(term)) {
      read(supporter, reader);
    } else {
      effects.readFailed(reader, Refusal.NOT_LEADER);
    }
  }

  private void read(NodeId supporter, R reader) {
    long id = reads.add(reader);
    if (begin()) {
      core.requestRead(id, supporter);
      end();
    }
  }

  /** Transfers the leadership, as {@link RaftCore#transferLeadership}. */
  public void transferLeadership(NodeId to, T caller) {
    if (installing) {
      effects.transferFailed(caller, Refusal.NOT_LEADER);
      return;
    }
    if (core.leader().equals(to)) {
      effects.transferDone(caller);
      return;
    }
    transfers.add(to, caller);
    if (begin()) {
      core.transferLeadership(to);
      end();
    }
  }

  /**
   * Transfers the leadership to any voter, as {@link RaftCore#handOver}. Done if this member does
   * not lead; refused with BAD_LEADER_TRANSFEREE if no other member replies.
   */
  public void handOver(T caller) {
    ReplicationStatus replication = replication();
    if (replication == null) {
      effects.transferDone(caller);
      return;
    }
    boolean alone =
        replication.peers().values().stream().noneMatch(peer -> peer.connectedTicks() > 0);
    if (alone) {
      effects.transferFailed(caller, Refusal.BAD_LEADER_TRANSFEREE);
      return;
    }
    transfers.addForAny(caller);
    if (begin()) {
      core.handOver();
      end();
    }
  }

  // ---- inputs: other members

  /**
   * A message of another member arrived. {@link PeerMessage.InstallSnapshot} is dropped: without
   * its content on this disk it is not valid.
   */
  public void receive(NodeId from, PeerMessage message) {
    if (message instanceof PeerMessage.InstallSnapshot && !installing) {
      effects.snapshotDropped(from);
    } else if (begin()) {
      core.receive(from, message);
      end();
    }
  }

  /** A snapshot of another member was received; its content is durable on this disk. */
  public void snapshotReceived(NodeId from, PeerMessage.InstallSnapshot message) {
    if (begin()) {
      core.receive(from, message);
      end();
    }
  }

  // ---- inputs: other actors

  /** As {@link RaftCore#persisted}. */
  public void persisted(long number) {
    if (begin()) {
      core.persisted(number);
      end();
    }
  }

  /** As {@link RaftCore#applied}. */
  public void applied(long index) {
    if (begin()) {
      core.applied(index);
      end();
    }
  }

  /** As {@link RaftCore#compactLog}. */
  public void compactLog(long index) {
    if (begin()) {
      core.compactLog(index);
      end();
    }
  }

  /** As {@link RaftCore#logRead}. */
  public void logRead(NodeId to, long from, List<Entry> entries) {
    if (begin()) {
      core.logRead(to, from, entries);
      end();
    }
  }

  /** As {@link RaftCore#snapshotSent}. */
  public void snapshotSent(NodeId to, long transfer, long index, boolean ok) {
    if (begin()) {
      core.snapshotSent(to, transfer, index, ok);
      end();
    }
  }

  // ---- queries, also from inside an effect

  /** Current status of this member. */
  public RaftStatus status() {
    return core.status();
  }

  /** The membership in effect. */
  public Membership membership() {
    return core.membership();
  }

  /** Replication status of the peers; null if this member does not lead or installs a snapshot. */
  public @Nullable ReplicationStatus replication() {
    return installing ? null : core.replication();
  }

  /** True from the begin of the installation of a snapshot on. It never ends. */
  public boolean isInstalling() {
    return installing;
  }

  /** True if this member leads in the term and accepts requests. */
  public boolean leadsIn(long term) {
    return !installing && core.status().leadsIn(term);
  }

  /** True if this member follows the leader in the term, as {@link RaftStatus#follows}. */
  public boolean follows(NodeId leader, long term) {
    return !installing && core.status().follows(leader, term);
  }

  /** Effects of the core and of the batcher. */
  private final class CoreEffects extends ForwardingEffects implements ProposalBatcher.Effects<C> {
    CoreEffects() {
      super(effects);
    }

    @Override
    public void persist(
        long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist) {
      if (state.term() != publishedTerm) {
        // Before the vote of this member leaves, so that who reads an earlier term in the status
        // knows that this member has not voted in this one (docs/decisions/0275).
        publish(core.status());
      }
      super.persist(number, state, entries, messagesAfterPersist);
    }

    @Override
    public void flushLater() {
      effects.flushLater();
    }

    @Override
    public void expect(List<C> callers) {
      effects.expect(callers, core.term());
    }

    @Override
    public void propose(List<Proposal> batch) {
      core.propose(batch);
    }

    @Override
    public void releaseRead(long readId, long readIndex) {
      reads.release(readId, readIndex, core.applyQueue.applied());
    }

    @Override
    public void rejectRead(long readId, Refusal reason) {
      reads.refuse(readId, reason);
    }

    @Override
    public void installSnapshot(
        long number,
        HardState before,
        HardState state,
        SnapshotMark mark,
        List<Outgoing> messagesAfterPersist) {
      installing = true;
      super.installSnapshot(number, before, state, mark, messagesAfterPersist);
    }

    @Override
    public void roleChanged(RaftStatus status) {
      super.roleChanged(status);
      // Before the replies: a caller that learns of a transfer finds it in the status.
      publish(status);
      boolean leads = status.role() == RaftRole.LEADER;
      transfers.roleChanged(leads, status.leader());
      long term = leads ? status.term() : 0;
      if (term != leadingTerm) {
        leadingTerm = term;
        effects.leading(leads, status.term());
      }
    }

    @Override
    public void transferRefused(NodeId to, Refusal reason) {
      super.transferRefused(to, reason);
      transfers.refused(to, reason);
    }
  }
}
