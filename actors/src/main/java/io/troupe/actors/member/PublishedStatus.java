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
 * Last status of the raft and apply actors. Each part is written by one thread; any thread reads.
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

  /** Tests whether a condition has held for a member since a time. Thread-safe. */
  @FunctionalInterface
  interface Since {
    /** Returns true if it has held since {@code nanos}, a reading of {@link System#nanoTime}. */
    boolean test(NodeId member, long nanos);
  }

  /**
   * Contact with other members.
   *
   * @param heard true if messages arrived without a gap of the time after which a peer counts as
   *     unresponsive
   * @param connected true if there was no gap of the time after which a connection counts as lost
   */
  record Contacts(Since heard, Since connected) {}

  /**
   * No leader is known yet.
   *
   * @param leaderChanged runs when a different leader becomes known
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

  /** A membership took effect. Called on the raft actor's thread before its next status. */
  void membership(Membership membership) {
    members = membership.members();
    soleVoter =
        membership.voters().equals(Set.of(memberId))
            && membership.outgoing().isEmpty()
            && membership.leaving().isEmpty();
  }

  /**
   * Returns true only if no other member could lead at the time of the call: it would need the vote
   * of this member in a membership that this member knows.
   */
  boolean isSoleVoter() {
    return soleVoter && raft.role() == RaftRole.LEADER;
  }

  /** Sets the source of the contact with other members. */
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
    // Read after the future was added, so that a leader that is elected now completes it.
    NodeId leader = raft.leader();
    if (!leader.isNone()) {
      one.complete(leader);
    }
    return one;
  }

  /** Number of callers that wait for a leader. */
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
    // An entry may be applied before the raft actor has published that it is committed.
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
