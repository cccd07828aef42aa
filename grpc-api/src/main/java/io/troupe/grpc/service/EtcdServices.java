package io.troupe.grpc.service;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** All services of one member. */
public final class EtcdServices {
  private final Member member;
  private final GatewaySettings settings;
  private final KvService kv;
  private final LeaseService lease;
  private final ClusterService cluster;
  private final MaintenanceService maintenance;
  private final HealthService health = new HealthService();

  /**
   * Wires the services.
   *
   * @param members the membership now
   * @param diskHasRoom see {@link Quota}
   * @param defragment starts reclaiming space in the background
   */
  public EtcdServices(
      Member member,
      GatewaySettings settings,
      Proposer proposer,
      Supplier<List<MemberInfo>> members,
      BooleanSupplier diskHasRoom,
      Runnable defragment) {
    this.member = member;
    this.settings = settings;
    ReadGate gate = new ReadGate(member, settings.requestTimeout());
    Quota quota = new Quota(member, proposer, settings.quotaBytes(), diskHasRoom);
    this.kv = new KvService(member, settings, proposer, gate, quota);
    this.lease = new LeaseService(member, settings, proposer, quota);
    this.cluster = new ClusterService(member, gate, members);
    this.maintenance = new MaintenanceService(member, gate, proposer, quota, defragment);
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

  public LeaseService lease() {
    return lease;
  }

  public ClusterService cluster() {
    return cluster;
  }

  public MaintenanceService maintenance() {
    return maintenance;
  }

  public HealthService health() {
    return health;
  }
}
