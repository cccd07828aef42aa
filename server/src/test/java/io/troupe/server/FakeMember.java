package io.troupe.server;

import io.troupe.auth.AuthState;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.AlarmMember;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.KeyRange;
import io.troupe.model.MemberAttributes;
import io.troupe.model.MemoryBudget;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.DatabaseFile;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.MemberStatus;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadExecutors;
import io.troupe.protocol.ReplicationReply;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.StateReader;
import io.troupe.protocol.WatchCommand;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipRules;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.jspecify.annotations.Nullable;

/**
 * A member whose raft actor is a probe and whose state and leader the test sets. Members have the
 * IDs 1, 2, ... and listen at http://p1:1, http://p2:1, ...
 */
final class FakeMember implements MemberStatus, StateReader, AutoCloseable {
  static final NodeId SELF = new NodeId(1);

  /** No peer is reachable. */
  static final PeerQueries NO_PEERS =
      (peerUrl, query, timeout) ->
          CompletableFuture.failedFuture(new TimeoutException("no connection to " + peerUrl));

  /** Longer than any pause of a machine that runs tests. */
  static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(20);

  /** For tests that wait for its end. */
  static final Duration SHORT_TIMEOUT = Duration.ofSeconds(1);

  final ActorTestKit kit = ActorTestKit.create();
  final TestProbe<RaftCommand> raft = kit.createTestProbe();
  final Member member;
  final TestProbe<LeaseCommand> lease;
  final GatewaySettings settings;
  final Proposer proposer;
  private final ConcurrentLinkedQueue<CompletableFuture<NodeId>> waiting =
      new ConcurrentLinkedQueue<>();
  private volatile NodeId leader = SELF;

  private final AtomicLong index = new AtomicLong(100);
  private volatile boolean busy;

  private volatile OptionalLong leaderSinceNanos = OptionalLong.empty();
  private volatile long connectedSinceNanos = System.nanoTime();
  private final Map<NodeId, Long> connections = new ConcurrentHashMap<>();
  private volatile long revision = 1;
  private volatile @Nullable KvHash hash;
  private volatile List<KvHash> compactionHashes = List.of();
  private volatile ClusterView view = view(1, 0, 1);
  private volatile AuthState auth = AuthState.EMPTY;
  private volatile ClusterVersions versions = ClusterVersions.UNDECIDED;

  FakeMember(boolean strict) {
    this(strict, REQUEST_TIMEOUT);
  }

  FakeMember(boolean strict, Duration requestTimeout) {
    this.lease = kit.createTestProbe();
    TestProbe<WatchCommand> watch = kit.createTestProbe();
    this.member =
        new Member(
            this,
            this,
            raft::getRef,
            lease::getRef,
            watch::getRef,
            ReadExecutors.all(Runnable::run),
            kit.scheduler(),
            new PendingReplies(kit.scheduler()),
            new MemberMetrics(),
            new MemoryBudget(1 << 20),
            new EtcdVersion(3, 7, 1));
    this.settings =
        new GatewaySettings(
            1 << 20,
            128,
            requestTimeout,
            Duration.ofSeconds(5),
            1 << 20,
            1,
            0,
            Duration.ofMillis(10),
            new MembershipRules.Limits(strict, 1),
            Duration.ofSeconds(1),
            true,
            true,
            1 << 20);
    this.proposer = new Proposer(member, settings, new RequestIds(SELF, 1));
  }

  /** A call without identity, deadline and options. */
  static Call call() {
    return call(CallTrace.NONE);
  }

  /** The same with a trace. */
  static Call call(CallTrace trace) {
    return new Call(
        null,
        false,
        Optional.empty(),
        "",
        new MemoryBudget(1 << 20).share(),
        () -> false,
        null,
        Runnable::run,
        trace);
  }

  static NodeId id(int number) {
    return new NodeId(number);
  }

  static String url(int number) {
    return "http://p" + number + ":1";
  }

  /** Voters 1..voters, then learners, all started. */
  static ClusterView view(int voters, int learners, long version) {
    SortedMap<NodeId, List<String>> urls = new TreeMap<>();
    SortedMap<NodeId, MemberAttributes> published = new TreeMap<>();
    Set<NodeId> voting = new TreeSet<>();
    Set<NodeId> learning = new TreeSet<>();
    for (int i = 1; i <= voters + learners; i++) {
      (i <= voters ? voting : learning).add(id(i));
      urls.put(id(i), List.of(url(i)));
      published.put(id(i), new MemberAttributes(id(i), "n" + i, List.of("http://c" + i + ":1")));
    }
    return new ClusterView(
        new Membership(version, voting, learning, Set.of(), Set.of(), Set.of()), urls, published);
  }

  /**
   * From now on each read of the applied index finds that more entries were committed and applied.
   */
  void getBusy() {
    busy = true;
  }

  void show(ClusterView next) {
    view = next;
  }

  void show(AuthState next) {
    auth = next;
  }

  void lead(NodeId next) {
    if (!next.isNone() && !next.equals(leader)) {
      leaderSinceNanos = OptionalLong.of(System.nanoTime());
    }
    leader = next;
    if (!next.isNone()) {
      for (CompletableFuture<NodeId> one = waiting.poll(); one != null; one = waiting.poll()) {
        one.complete(next);
      }
    }
  }

  /** Replies to the query for the leader's view; null if this member does not lead. */
  void replyReplication(@Nullable ReplicationStatus status) {
    raft.expectMessageClass(RaftCommand.GetReplication.class)
        .replyTo()
        .tell(new ReplicationReply(status));
  }

  /** {@link #replyReplication} of a leader at 100 with one other member. */
  void replyReplication(NodeId leader, NodeId follower, long match, int ticks) {
    replyReplication(
        new ReplicationStatus(
            leader,
            100,
            new TreeMap<>(
                Map.of(
                    follower,
                    new ReplicationStatus.Peer(
                        match, ticks, ReplicationStatus.PeerState.REPLICATE)))));
  }

  @Override
  public void close() {
    kit.shutdownTestKit();
  }

  @Override
  public long clusterId() {
    return 77;
  }

  @Override
  public NodeId memberId() {
    return SELF;
  }

  @Override
  public long term() {
    return 3;
  }

  @Override
  public NodeId leader() {
    return leader;
  }

  @Override
  public OptionalLong leaderSinceNanos() {
    return leaderSinceNanos;
  }

  @Override
  public boolean isConnectedSince(long nanos) {
    return connectedSinceNanos - nanos <= 0;
  }

  @Override
  public boolean isConnectedSince(NodeId other, long nanos) {
    return connections.getOrDefault(other, Long.MAX_VALUE) - nanos <= 0;
  }

  /** Sets how long that member has been connected. */
  void connected(NodeId other, Duration since) {
    connections.put(other, System.nanoTime() - since.toNanos());
  }

  /** The connection to the leader was lost and is restored. */
  void reconnect() {
    connectedSinceNanos = System.nanoTime();
  }

  @Override
  public CompletableFuture<NodeId> awaitLeader() {
    CompletableFuture<NodeId> one = new CompletableFuture<>();
    waiting.add(one);
    lead(leader);
    return one;
  }

  @Override
  public long committed() {
    return index.get();
  }

  @Override
  public long applied() {
    return busy ? index.incrementAndGet() : index.get();
  }

  @Override
  public boolean isCorrupt() {
    return false;
  }

  @Override
  public AuthState auth() {
    return auth;
  }

  @Override
  public ClusterView cluster() {
    return view;
  }

  @Override
  public long revision() {
    return revision;
  }

  @Override
  public long compactedRevision() {
    return -1;
  }

  @Override
  public @Nullable RangeResult rangeInMemory(RangeQuery query) {
    return null;
  }

  @Override
  public RangeResult range(RangeQuery query, MemoryBudget.Share share) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Chunk chunk(
      KeyRange range,
      long revision,
      int limit,
      long maxBytes,
      boolean keysOnly,
      RangeQuery.SortTarget target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long count(KeyRange range, long revision) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long keys() {
    throw new UnsupportedOperationException();
  }

  @Override
  public CountedBlocks countedBlocks() {
    throw new UnsupportedOperationException();
  }

  /** Accepts compares of any size. */
  @Override
  public void tryCompares(Operation.Txn txn, MemoryBudget.Share share) {}

  @Override
  public Result txn(Operation.Txn txn, MemoryBudget.Share share) {
    throw new UnsupportedOperationException();
  }

  /** Sets this member's hashes: of the current content, and of compactions. */
  void hash(KvHash current, List<KvHash> ofCompactions) {
    hash = current;
    compactionHashes = ofCompactions;
  }

  @Override
  public KvHash hash() {
    return hashKv(0);
  }

  @Override
  public KvHash hashKv(long revision) {
    KvHash current = hash;
    if (current == null) {
      throw new UnsupportedOperationException();
    }
    return current;
  }

  @Override
  public KvHash computeHashKv(long revision) {
    return hashKv(revision);
  }

  @Override
  public List<KvHash> compactionHashes() {
    return compactionHashes;
  }

  void revision(long now) {
    revision = now;
  }

  @Override
  public List<Bytes> leaseKeys(long lease, MemoryBudget.Share share) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean allLeaseKeys(long lease, Predicate<Bytes> test) {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<AlarmMember> alarms() {
    return List.of();
  }

  @Override
  public ClusterVersions versions() {
    return versions;
  }

  /** Sets the versions in the state. */
  void versions(ClusterVersions current) {
    versions = current;
  }

  @Override
  public DatabaseFile openDatabase(long windowBytes) {
    throw new UnsupportedOperationException("no state");
  }

  @Override
  public long sizeOnDisk() {
    return 0;
  }

  @Override
  public long sizeInUse() {
    return 0;
  }

  @Override
  public CompletionStage<Void> compactionDone(long revision) {
    throw new UnsupportedOperationException();
  }
}
