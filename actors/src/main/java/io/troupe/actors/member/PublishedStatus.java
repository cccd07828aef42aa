package io.troupe.actors.member;

import io.troupe.model.NodeId;
import io.troupe.protocol.MemberStatus;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.membership.Membership;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the raft and apply actors last said of themselves. Written by one thread each, read by any.
 */
public final class PublishedStatus implements MemberStatus {
  private static final RaftStatus UNKNOWN =
      new RaftStatus(RaftRole.FOLLOWER, 0, NodeId.NONE, 0, 0, 0, 1);

  private final long clusterId;
  private final NodeId memberId;
  private final Map<Long, CompletableFuture<NodeId>> waiting = new ConcurrentHashMap<>();
  private final AtomicLong nextWaiting = new AtomicLong();
  private final Runnable leaderChanged;
  private volatile Contacts contacts =
      new Contacts((member, nanos) -> true, (member, nanos) -> true);
  private volatile Set<NodeId> members = Set.of();
  private volatile RaftStatus raft = UNKNOWN;
  private volatile OptionalLong leaderSinceNanos = OptionalLong.empty();
  private volatile long applied;
  private volatile boolean soleVoter;
  private volatile boolean corrupt;

  /** Whether something has held for a member since a moment or longer. Thread-safe. */
  @FunctionalInterface
  interface Since {
    /** True if it has, {@code nanos} being a reading of {@link System#nanoTime}. */
    boolean test(NodeId member, long nanos);
  }

  /**
   * Who is heard.
   *
   * @param heard without a break of the time after which a peer counts as silent
   * @param connected without a break of the time after which a connection counts as lost
   */
  record Contacts(Since heard, Since connected) {}

  /**
   * Nothing is known yet.
   *
   * @param leaderChanged run when another leader than before becomes known
   */
  PublishedStatus(long clusterId, NodeId memberId, long applied, Runnable leaderChanged) {
    this.leaderChanged = leaderChanged;
    this.clusterId = clusterId;
    this.memberId = memberId;
    this.applied = applied;
  }

  void raft(RaftStatus status) {
    boolean moved = !status.leader().equals(raft.leader());
    if (moved && !status.leader().isNone()) {
      leaderSinceNanos = OptionalLong.of(System.nanoTime());
    }
    raft = status;
    if (moved && !status.leader().isNone()) {
      leaderChanged.run();
      waiting.values().forEach(one -> one.complete(status.leader()));
    }
  }

  void applied(long index) {
    applied = index;
  }

  /** A membership took effect; told on the raft actor's thread before that room says more. */
  void membership(Membership membership) {
    members = membership.members();
    soleVoter =
        membership.voters().equals(Set.of(memberId))
            && membership.outgoing().isEmpty()
            && membership.leaving().isEmpty();
  }

  /**
   * True only if no other member could lead when this was called: it would need this one's vote in
   * a membership that this one knows.
   */
  boolean isSoleVoter() {
    return soleVoter && raft.role() == RaftRole.LEADER;
  }

  /** Who says which members are heard. */
  void contacts(Contacts heard) {
    contacts = heard;
  }

  @Override
  public boolean isConnectedSince(long nanos) {
    NodeId leader = raft.leader();
    if (!leader.equals(memberId)) {
      return leader.isNone() || contacts.heard().test(leader, nanos);
    }
    Set<NodeId> all = members;
    long connected =
        all.stream()
            .filter(member -> member.equals(memberId) || contacts.heard().test(member, nanos))
            .count();
    return all.isEmpty() || 2 * connected > all.size();
  }

  @Override
  public boolean isConnectedSince(NodeId member, long nanos) {
    return member.equals(memberId) || contacts.connected().test(member, nanos);
  }

  void corrupt(boolean now) {
    corrupt = now;
  }

  @Override
  public OptionalLong leaderSinceNanos() {
    return leaderSinceNanos;
  }

  @Override
  public CompletableFuture<NodeId> awaitLeader() {
    CompletableFuture<NodeId> one = new CompletableFuture<>();
    long number = nextWaiting.incrementAndGet();
    waiting.put(number, one);
    CompletionStage<NodeId> end = one;
    end.whenComplete((leader, failure) -> waiting.remove(number));
    // Looked at after it was added: a leader that comes now finds it.
    NodeId leader = raft.leader();
    if (!leader.isNone()) {
      one.complete(leader);
    }
    return one;
  }

  /** How many wait for a leader. */
  int waitingForLeader() {
    return waiting.size();
  }

  @Override
  public long clusterId() {
    return clusterId;
  }

  @Override
  public NodeId memberId() {
    return memberId;
  }

  @Override
  public long term() {
    return raft.term();
  }

  @Override
  public NodeId leader() {
    return raft.leader();
  }

  @Override
  public long committed() {
    // Commands are applied before the raft actor has told that they are committed.
    return Math.max(raft.commit(), applied);
  }

  @Override
  public long applied() {
    return applied;
  }

  @Override
  public boolean isCorrupt() {
    return corrupt;
  }
}
