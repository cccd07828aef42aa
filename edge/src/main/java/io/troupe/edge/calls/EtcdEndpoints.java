package io.troupe.edge.calls;

import com.google.protobuf.Descriptors;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.DowngradeRequest;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberPromoteRequest;
import io.troupe.grpc.api.MemberRemoveRequest;
import io.troupe.grpc.api.MemberUpdateRequest;
import io.troupe.grpc.api.MoveLeaderRequest;
import io.troupe.grpc.api.RpcProto;
import io.troupe.grpc.api.backup.BackupProto;
import io.troupe.grpc.api.election.ElectionProto;
import io.troupe.grpc.api.election.LeaderRequest;
import io.troupe.grpc.api.election.ProclaimRequest;
import io.troupe.grpc.api.election.ResignRequest;
import io.troupe.grpc.api.health.HealthCheckRequest;
import io.troupe.grpc.api.health.HealthProto;
import io.troupe.grpc.api.lock.LockProto;
import io.troupe.grpc.api.lock.UnlockRequest;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import io.troupe.server.ClusterService;
import io.troupe.server.EtcdServices;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.stream.Materializer;

/** Maps paths to service methods (section 1.1). */
public final class EtcdEndpoints {
  private static final String KV = "etcdserverpb.KV";
  private static final String WATCH = "etcdserverpb.Watch";
  private static final String LEASE = "etcdserverpb.Lease";
  private static final String CLUSTER = "etcdserverpb.Cluster";
  private static final String MAINTENANCE = "etcdserverpb.Maintenance";
  private static final String ELECTION = "v3electionpb.Election";
  private static final String LOCK = "v3lockpb.Lock";
  private static final String HEALTH = "grpc.health.v1.Health";
  private static final String BACKUP = "troupe.backup.v1.Backup";

  /** The files that declare all services. */
  private static final List<Descriptors.FileDescriptor> FILES =
      List.of(
          RpcProto.getDescriptor(),
          ElectionProto.getDescriptor(),
          LockProto.getDescriptor(),
          HealthProto.getDescriptor(),
          BackupProto.getDescriptor());

  private EtcdEndpoints() {}

  public static GrpcMethods of(EtcdServices services, Materializer materializer) {
    StreamCalls streams = new StreamCalls(services, materializer);
    GrpcMethods methods = new GrpcMethods(services.member().metrics().rpc());
    declareAll(methods);
    kv(methods, services, streams);
    lease(methods, services, streams);
    methods.streaming(WATCH, "Watch", streams::watch);
    cluster(methods, services.cluster());
    maintenance(methods, services, streams);
    AuthEndpoints.add(methods, services.auth());
    election(methods, services, streams);
    lock(methods, services, streams);
    health(methods, services, streams);
    methods.unary(BACKUP, "Write", (request, call) -> services.backup().write(call));
    services.member().metrics().beforeFirstLook(methods::showCounted);
    return methods;
  }

  /** Methods of the API that are not served return an explicit error instead of "unknown". */
  private static void declareAll(GrpcMethods methods) {
    FILES.forEach(file -> file.getServices().forEach(service -> declare(methods, service)));
  }

  private static void declare(GrpcMethods methods, Descriptors.ServiceDescriptor service) {
    String name = service.getFullName();
    boolean counted = !name.startsWith("v3") && !name.equals(BACKUP);
    for (Descriptors.MethodDescriptor method : service.getMethods()) {
      methods.declare(method, counted);
      String text = "method " + method.getName() + " is not served by this version";
      methods.unary(
          service.getFullName(),
          method.getName(),
          (request, call) -> {
            throw new GrpcException(GrpcStatus.UNIMPLEMENTED, text);
          });
    }
  }

  private static void kv(GrpcMethods methods, EtcdServices services, StreamCalls streams) {
    methods
        .unary(KV, "Range", (request, call) -> services.kv().range(request, call))
        .unary(KV, "Put", (request, call) -> services.kv().put(request, call))
        .unary(KV, "DeleteRange", (request, call) -> services.kv().deleteRange(request, call))
        .unary(KV, "Txn", (request, call) -> services.kv().txn(request, call))
        .unary(KV, "Compact", (request, call) -> services.kv().compact(request, call))
        .streaming(KV, "RangeStream", streams::rangeStream);
  }

  private static void lease(GrpcMethods methods, EtcdServices services, StreamCalls streams) {
    methods
        .unary(
            LEASE,
            "LeaseGrant",
            (request, call) ->
                services.lease().grant(LeaseGrantRequest.parseFrom(raw(request)), call))
        .unary(
            LEASE,
            "LeaseRevoke",
            (request, call) ->
                services.lease().revoke(LeaseRevokeRequest.parseFrom(raw(request)), call))
        .unary(
            LEASE,
            "LeaseTimeToLive",
            (request, call) ->
                services.lease().timeToLive(LeaseTimeToLiveRequest.parseFrom(raw(request)), call))
        .unary(LEASE, "LeaseLeases", (request, call) -> services.lease().leases(call))
        .streaming(LEASE, "LeaseKeepAlive", streams::keepAlive);
  }

  private static void cluster(GrpcMethods methods, ClusterService cluster) {
    methods
        .unary(
            CLUSTER,
            "MemberAdd",
            (request, call) -> cluster.add(MemberAddRequest.parseFrom(raw(request)), call))
        .unary(
            CLUSTER,
            "MemberRemove",
            (request, call) -> cluster.remove(MemberRemoveRequest.parseFrom(raw(request)), call))
        .unary(
            CLUSTER,
            "MemberUpdate",
            (request, call) -> cluster.update(MemberUpdateRequest.parseFrom(raw(request)), call))
        .unary(
            CLUSTER,
            "MemberPromote",
            (request, call) -> cluster.promote(MemberPromoteRequest.parseFrom(raw(request)), call))
        .unary(
            CLUSTER,
            "MemberList",
            (request, call) -> cluster.list(MemberListRequest.parseFrom(raw(request)), call));
  }

  private static void maintenance(GrpcMethods methods, EtcdServices services, StreamCalls streams) {
    methods
        .unary(
            MAINTENANCE,
            "Alarm",
            (request, call) ->
                services.maintenance().alarm(AlarmRequest.parseFrom(raw(request)), call))
        .unary(MAINTENANCE, "Status", (request, call) -> services.maintenance().status(call))
        .unary(
            MAINTENANCE, "Defragment", (request, call) -> services.maintenance().defragment(call))
        .unary(
            MAINTENANCE,
            "MoveLeader",
            (request, call) ->
                services.maintenance().moveLeader(MoveLeaderRequest.parseFrom(raw(request)), call))
        .unary(
            MAINTENANCE,
            "Downgrade",
            (request, call) ->
                services.maintenance().downgrade(DowngradeRequest.parseFrom(raw(request)), call))
        .unary(MAINTENANCE, "Hash", (request, call) -> services.maintenance().hash(call))
        .unary(
            MAINTENANCE,
            "HashKV",
            (request, call) ->
                services.maintenance().hashKv(HashKVRequest.parseFrom(raw(request)), call))
        .streaming(MAINTENANCE, "Snapshot", streams::snapshot);
  }

  /**
   * A call that waits is served as a stream with one response, so that the server notices when its
   * client disconnects.
   */
  private static void election(GrpcMethods methods, EtcdServices services, StreamCalls streams) {
    methods
        .streaming(ELECTION, "Campaign", streams::campaign)
        .unary(
            ELECTION,
            "Proclaim",
            (request, call) ->
                services.election().proclaim(ProclaimRequest.parseFrom(raw(request)), call))
        .unary(
            ELECTION,
            "Leader",
            (request, call) ->
                services.election().leader(LeaderRequest.parseFrom(raw(request)), call))
        .streaming(ELECTION, "Observe", streams::observe)
        .unary(
            ELECTION,
            "Resign",
            (request, call) ->
                services.election().resign(ResignRequest.parseFrom(raw(request)), call));
  }

  private static void lock(GrpcMethods methods, EtcdServices services, StreamCalls streams) {
    methods
        .streaming(LOCK, "Lock", streams::lock)
        .unary(
            LOCK,
            "Unlock",
            (request, call) -> services.lock().unlock(UnlockRequest.parseFrom(raw(request)), call));
  }

  private static void health(GrpcMethods methods, EtcdServices services, StreamCalls streams) {
    methods
        .unary(
            HEALTH,
            "Check",
            (request, call) ->
                CompletableFuture.completedFuture(
                    services.health().check(HealthCheckRequest.parseFrom(raw(request)))))
        .unary(
            HEALTH,
            "List",
            (request, call) -> CompletableFuture.completedFuture(services.health().list()))
        .streaming(HEALTH, "Watch", streams::healthWatch);
  }

  private static byte[] raw(Bytes request) {
    return request.toArrayUnsafe();
  }
}
