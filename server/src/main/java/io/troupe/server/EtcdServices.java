package io.troupe.server;

import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.RaftQueries;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** All services of one member. */
public final class EtcdServices {
  private final Member member;
  private final GatewaySettings settings;
  private final KvService kv;
  private final LeaseService lease;
  private final ClusterService cluster;
  private final PeerQueryHandler peerQueryHandler;
  private final MaintenanceService maintenance;
  private final BackupService backup;
  private final LeaderTransfer transfer;
  private final AuthService auth;
  private final CallerResolver callers;
  private final ElectionService election;
  private final LockService lock;
  private final Proposer proposer;
  private final PeerQueries peers;
  private final CorruptionCheck corruptionCheck;
  private final HealthService health = new HealthService();
  private final ServingProbe probe;

  /**
   * Creates the services.
   *
   * @param logins authenticates callers
   * @param peers sends queries to other members
   * @param clock for the IDs of new members
   * @param diskHasSpace see {@link Quota}
   * @param defragment reclaims space, and completes when that is done
   * @param backups writes backups on request
   */
  public EtcdServices(
      Member member,
      GatewaySettings settings,
      Proposer proposer,
      Logins logins,
      PeerQueries peers,
      InstantSource clock,
      BooleanSupplier diskHasSpace,
      Supplier<CompletionStage<Void>> defragment,
      BackupRequests backups) {
    this.member = member;
    this.settings = settings;
    ReadIndexBatcher reads =
        new ReadIndexBatcher(member, settings.requestTimeout(), settings.tick());
    this.probe = new ServingProbe(member, reads);
    Quota quota = new Quota(member, proposer, settings.quotaBytes(), diskHasSpace);
    this.callers = new CallerResolver(member, reads, logins.tokens());
    this.auth = new AuthService(member, reads, proposer, callers, logins);
    this.kv = new KvService(member, settings, proposer, reads, quota, callers);
    LeaderClient leader = new LeaderClient(member, peers);
    LeaderLeaseClient times = new LeaderLeaseClient(member, settings, leader);
    this.lease = new LeaseService(member, settings, proposer, quota, times, reads, callers);
    RaftQueries raftQueries = new LocalRaftQueries(member, settings, leader);
    MembershipChanges changes = new MembershipChanges(member, settings, proposer, raftQueries);
    Promotion promotion = new Promotion(member, settings, reads, changes, leader);
    this.cluster = new ClusterService(member, reads, changes, promotion, clock, callers);
    this.peerQueryHandler = new PeerQueryHandler(member, settings, raftQueries, promotion, times);
    this.transfer = new LeaderTransfer(member, settings);
    this.maintenance =
        new MaintenanceService(
            member,
            reads,
            proposer,
            quota,
            transfer,
            settings.awayOnDefrag() ? () -> defragmentNotServing(defragment) : defragment,
            callers,
            settings.snapshotBytesPerSecond(),
            settings.maxRequestBytes());
    this.backup = new BackupService(member, callers, backups);
    ElectionQueue candidates =
        new ElectionQueue(member, settings, new InProcessKvClient(kv), lease, callers);
    this.election = new ElectionService(candidates);
    this.lock = new LockService(candidates);
    this.proposer = proposer;
    this.peers = peers;
    this.corruptionCheck = new CorruptionCheck(member, reads, proposer, peers);
  }

  public Member member() {
    return member;
  }

  public GatewaySettings settings() {
    return settings;
  }

  public KvService kv() {
    return kv;
  }

  public AuthService auth() {
    return auth;
  }

  /** Opens a watch stream of a client. */
  public CompletionStage<WatchSession> watch(Call call) {
    return WatchSession.open(member, settings.requestTimeout(), callers, call);
  }

  public LeaseService lease() {
    return lease;
  }

  public ClusterService cluster() {
    return cluster;
  }

  /** Replies to the queries of other members. */
  public PeerQueryHandler peerReplys() {
    return peerQueryHandler;
  }

  public MaintenanceService maintenance() {
    return maintenance;
  }

  public BackupService backup() {
    return backup;
  }

  public ElectionService election() {
    return election;
  }

  /**
   * The periodic tasks of this member.
   *
   * @param tooOld called once with the reason when this member can no longer be part of its cluster
   */
  public MaintenanceTasks upkeep(
      UpkeepSettings upkeep, VersionSettings versions, Consumer<String> tooOld) {
    return new MaintenanceTasks(
        member,
        proposer,
        corruptionCheck,
        new VersionMonitor(member, proposer, peers, versions.downgradeCheckTime(), tooOld),
        upkeep,
        settings.requestTimeout());
  }

  public LockService lock() {
    return lock;
  }

  /**
   * Before a clean shutdown: a leader transfers leadership to the best prepared voter (B5).
   *
   * @return whether another member leads instead of this one; false also if this one did not lead
   */
  public CompletionStage<Boolean> handOver(Duration atMost) {
    return transfer.handOver(atMost);
  }

  /** Reads that show whether this member serves. */
  public ServingProbe probe() {
    return probe;
  }

  /** With StopGRPCServiceOnDefrag (MT5). */
  private CompletionStage<Void> defragmentNotServing(Supplier<CompletionStage<Void>> defragment) {
    health.suspend("defrag is active");
    return defragment.get().whenComplete((done, failure) -> health.resume());
  }

  public HealthService health() {
    return health;
  }

  /**
   * Authenticates the caller before its request is parsed.
   *
   * @param named also rejects an anonymous caller while authentication is enabled
   * @return fails with a RefusedException; it is also thrown
   */
  public CompletionStage<?> identified(Call call, boolean named) {
    return named ? callers.writer(call) : callers.of(call);
  }
}
