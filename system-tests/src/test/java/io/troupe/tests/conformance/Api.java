package io.troupe.tests.conformance;

import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoUtils;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmResponse;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.CompactionResponse;
import io.troupe.grpc.api.DefragmentRequest;
import io.troupe.grpc.api.DefragmentResponse;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.DowngradeRequest;
import io.troupe.grpc.api.DowngradeResponse;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.HashKVResponse;
import io.troupe.grpc.api.HashRequest;
import io.troupe.grpc.api.HashResponse;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.LeaseKeepAliveRequest;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseLeasesRequest;
import io.troupe.grpc.api.LeaseLeasesResponse;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.LeaseRevokeResponse;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import io.troupe.grpc.api.LeaseTimeToLiveResponse;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.MemberPromoteRequest;
import io.troupe.grpc.api.MemberPromoteResponse;
import io.troupe.grpc.api.MemberRemoveRequest;
import io.troupe.grpc.api.MemberRemoveResponse;
import io.troupe.grpc.api.MemberUpdateRequest;
import io.troupe.grpc.api.MemberUpdateResponse;
import io.troupe.grpc.api.MoveLeaderRequest;
import io.troupe.grpc.api.MoveLeaderResponse;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RangeStreamResponse;
import io.troupe.grpc.api.SnapshotRequest;
import io.troupe.grpc.api.SnapshotResponse;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.WatchRequest;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.health.HealthCheckRequest;
import io.troupe.grpc.api.health.HealthCheckResponse;
import io.troupe.grpc.api.health.HealthListRequest;
import io.troupe.grpc.api.health.HealthListResponse;

/** The methods of section 1.1 that the suite calls, for grpc-java. */
final class Api {
  private static final String KV = "etcdserverpb.KV";
  private static final String LEASE = "etcdserverpb.Lease";
  private static final String CLUSTER = "etcdserverpb.Cluster";
  private static final String MAINTENANCE = "etcdserverpb.Maintenance";
  private static final String HEALTH = "grpc.health.v1.Health";

  static final MethodDescriptor<RangeRequest, RangeResponse> RANGE =
      unary(KV, "Range", RangeRequest.getDefaultInstance(), RangeResponse.getDefaultInstance());
  static final MethodDescriptor<RangeRequest, RangeStreamResponse> RANGE_STREAM =
      method(
          MethodType.SERVER_STREAMING,
          KV,
          "RangeStream",
          RangeRequest.getDefaultInstance(),
          RangeStreamResponse.getDefaultInstance());
  static final MethodDescriptor<PutRequest, PutResponse> PUT =
      unary(KV, "Put", PutRequest.getDefaultInstance(), PutResponse.getDefaultInstance());
  static final MethodDescriptor<DeleteRangeRequest, DeleteRangeResponse> DELETE =
      unary(
          KV,
          "DeleteRange",
          DeleteRangeRequest.getDefaultInstance(),
          DeleteRangeResponse.getDefaultInstance());
  static final MethodDescriptor<TxnRequest, TxnResponse> TXN =
      unary(KV, "Txn", TxnRequest.getDefaultInstance(), TxnResponse.getDefaultInstance());
  static final MethodDescriptor<CompactionRequest, CompactionResponse> COMPACT =
      unary(
          KV,
          "Compact",
          CompactionRequest.getDefaultInstance(),
          CompactionResponse.getDefaultInstance());
  static final MethodDescriptor<WatchRequest, WatchResponse> WATCH =
      method(
          MethodType.BIDI_STREAMING,
          "etcdserverpb.Watch",
          "Watch",
          WatchRequest.getDefaultInstance(),
          WatchResponse.getDefaultInstance());
  static final MethodDescriptor<LeaseGrantRequest, LeaseGrantResponse> GRANT =
      unary(
          LEASE,
          "LeaseGrant",
          LeaseGrantRequest.getDefaultInstance(),
          LeaseGrantResponse.getDefaultInstance());
  static final MethodDescriptor<LeaseRevokeRequest, LeaseRevokeResponse> REVOKE =
      unary(
          LEASE,
          "LeaseRevoke",
          LeaseRevokeRequest.getDefaultInstance(),
          LeaseRevokeResponse.getDefaultInstance());
  static final MethodDescriptor<LeaseKeepAliveRequest, LeaseKeepAliveResponse> KEEP_ALIVE =
      method(
          MethodType.BIDI_STREAMING,
          LEASE,
          "LeaseKeepAlive",
          LeaseKeepAliveRequest.getDefaultInstance(),
          LeaseKeepAliveResponse.getDefaultInstance());
  static final MethodDescriptor<LeaseTimeToLiveRequest, LeaseTimeToLiveResponse> TIME_TO_LIVE =
      unary(
          LEASE,
          "LeaseTimeToLive",
          LeaseTimeToLiveRequest.getDefaultInstance(),
          LeaseTimeToLiveResponse.getDefaultInstance());
  static final MethodDescriptor<LeaseLeasesRequest, LeaseLeasesResponse> LEASES =
      unary(
          LEASE,
          "LeaseLeases",
          LeaseLeasesRequest.getDefaultInstance(),
          LeaseLeasesResponse.getDefaultInstance());
  static final MethodDescriptor<MemberListRequest, MemberListResponse> MEMBER_LIST =
      unary(
          CLUSTER,
          "MemberList",
          MemberListRequest.getDefaultInstance(),
          MemberListResponse.getDefaultInstance());
  static final MethodDescriptor<MemberAddRequest, MemberAddResponse> MEMBER_ADD =
      unary(
          CLUSTER,
          "MemberAdd",
          MemberAddRequest.getDefaultInstance(),
          MemberAddResponse.getDefaultInstance());
  static final MethodDescriptor<MemberRemoveRequest, MemberRemoveResponse> MEMBER_REMOVE =
      unary(
          CLUSTER,
          "MemberRemove",
          MemberRemoveRequest.getDefaultInstance(),
          MemberRemoveResponse.getDefaultInstance());
  static final MethodDescriptor<MemberUpdateRequest, MemberUpdateResponse> MEMBER_UPDATE =
      unary(
          CLUSTER,
          "MemberUpdate",
          MemberUpdateRequest.getDefaultInstance(),
          MemberUpdateResponse.getDefaultInstance());
  static final MethodDescriptor<MemberPromoteRequest, MemberPromoteResponse> MEMBER_PROMOTE =
      unary(
          CLUSTER,
          "MemberPromote",
          MemberPromoteRequest.getDefaultInstance(),
          MemberPromoteResponse.getDefaultInstance());
  static final MethodDescriptor<MoveLeaderRequest, MoveLeaderResponse> MOVE_LEADER =
      unary(
          MAINTENANCE,
          "MoveLeader",
          MoveLeaderRequest.getDefaultInstance(),
          MoveLeaderResponse.getDefaultInstance());
  static final MethodDescriptor<AlarmRequest, AlarmResponse> ALARM =
      unary(
          MAINTENANCE,
          "Alarm",
          AlarmRequest.getDefaultInstance(),
          AlarmResponse.getDefaultInstance());
  static final MethodDescriptor<StatusRequest, StatusResponse> STATUS =
      unary(
          MAINTENANCE,
          "Status",
          StatusRequest.getDefaultInstance(),
          StatusResponse.getDefaultInstance());
  static final MethodDescriptor<DefragmentRequest, DefragmentResponse> DEFRAGMENT =
      unary(
          MAINTENANCE,
          "Defragment",
          DefragmentRequest.getDefaultInstance(),
          DefragmentResponse.getDefaultInstance());
  static final MethodDescriptor<HashRequest, HashResponse> HASH =
      unary(
          MAINTENANCE, "Hash", HashRequest.getDefaultInstance(), HashResponse.getDefaultInstance());
  static final MethodDescriptor<HashKVRequest, HashKVResponse> HASH_KV =
      unary(
          MAINTENANCE,
          "HashKV",
          HashKVRequest.getDefaultInstance(),
          HashKVResponse.getDefaultInstance());
  static final MethodDescriptor<DowngradeRequest, DowngradeResponse> DOWNGRADE =
      unary(
          MAINTENANCE,
          "Downgrade",
          DowngradeRequest.getDefaultInstance(),
          DowngradeResponse.getDefaultInstance());
  static final MethodDescriptor<SnapshotRequest, SnapshotResponse> SNAPSHOT =
      method(
          MethodType.SERVER_STREAMING,
          MAINTENANCE,
          "Snapshot",
          SnapshotRequest.getDefaultInstance(),
          SnapshotResponse.getDefaultInstance());
  static final MethodDescriptor<HealthCheckRequest, HealthCheckResponse> HEALTH_CHECK =
      unary(
          HEALTH,
          "Check",
          HealthCheckRequest.getDefaultInstance(),
          HealthCheckResponse.getDefaultInstance());
  static final MethodDescriptor<HealthListRequest, HealthListResponse> HEALTH_LIST =
      unary(
          HEALTH,
          "List",
          HealthListRequest.getDefaultInstance(),
          HealthListResponse.getDefaultInstance());
  static final MethodDescriptor<HealthCheckRequest, HealthCheckResponse> HEALTH_WATCH =
      method(
          MethodType.SERVER_STREAMING,
          HEALTH,
          "Watch",
          HealthCheckRequest.getDefaultInstance(),
          HealthCheckResponse.getDefaultInstance());

  private Api() {}

  /** A method with one request and one response, of any service, known to the server or not. */
  static <Q extends Message, R extends Message> MethodDescriptor<Q, R> unary(
      String service, String name, Q request, R response) {
    return method(MethodType.UNARY, service, name, request, response);
  }

  private static <Q extends Message, R extends Message> MethodDescriptor<Q, R> method(
      MethodType type, String service, String name, Q request, R response) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(service, name))
        .setRequestMarshaller(ProtoUtils.marshaller(request))
        .setResponseMarshaller(ProtoUtils.marshaller(response))
        .build();
  }
}
