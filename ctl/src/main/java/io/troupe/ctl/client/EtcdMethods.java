package io.troupe.ctl.client;

import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmResponse;
import io.troupe.grpc.api.AuthDisableRequest;
import io.troupe.grpc.api.AuthDisableResponse;
import io.troupe.grpc.api.AuthEnableRequest;
import io.troupe.grpc.api.AuthEnableResponse;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthRoleAddResponse;
import io.troupe.grpc.api.AuthRoleDeleteRequest;
import io.troupe.grpc.api.AuthRoleDeleteResponse;
import io.troupe.grpc.api.AuthRoleGetRequest;
import io.troupe.grpc.api.AuthRoleGetResponse;
import io.troupe.grpc.api.AuthRoleGrantPermissionRequest;
import io.troupe.grpc.api.AuthRoleGrantPermissionResponse;
import io.troupe.grpc.api.AuthRoleListRequest;
import io.troupe.grpc.api.AuthRoleListResponse;
import io.troupe.grpc.api.AuthRoleRevokePermissionRequest;
import io.troupe.grpc.api.AuthRoleRevokePermissionResponse;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.AuthStatusResponse;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.AuthUserAddResponse;
import io.troupe.grpc.api.AuthUserChangePasswordRequest;
import io.troupe.grpc.api.AuthUserChangePasswordResponse;
import io.troupe.grpc.api.AuthUserDeleteRequest;
import io.troupe.grpc.api.AuthUserDeleteResponse;
import io.troupe.grpc.api.AuthUserGetRequest;
import io.troupe.grpc.api.AuthUserGetResponse;
import io.troupe.grpc.api.AuthUserGrantRoleRequest;
import io.troupe.grpc.api.AuthUserGrantRoleResponse;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.AuthUserListResponse;
import io.troupe.grpc.api.AuthUserRevokeRoleRequest;
import io.troupe.grpc.api.AuthUserRevokeRoleResponse;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.AuthenticateResponse;
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
import io.troupe.grpc.api.backup.BackupRequest;
import io.troupe.grpc.api.backup.BackupResponse;
import io.troupe.grpc.api.election.CampaignRequest;
import io.troupe.grpc.api.election.CampaignResponse;
import io.troupe.grpc.api.election.LeaderRequest;
import io.troupe.grpc.api.election.LeaderResponse;
import io.troupe.grpc.api.election.ResignRequest;
import io.troupe.grpc.api.election.ResignResponse;
import io.troupe.grpc.api.lock.LockRequest;
import io.troupe.grpc.api.lock.LockResponse;
import io.troupe.grpc.api.lock.UnlockRequest;
import io.troupe.grpc.api.lock.UnlockResponse;

/** The methods that the commands call: those of etcd's API, and one of Troupe. */
public final class EtcdMethods {
  public static final MethodDescriptor<RangeRequest, RangeResponse> RANGE =
      method(
          "etcdserverpb.KV/Range", MethodType.UNARY, RangeRequest.parser(), RangeResponse.parser());
  public static final MethodDescriptor<RangeRequest, RangeStreamResponse> RANGE_STREAM =
      method(
          "etcdserverpb.KV/RangeStream",
          MethodType.SERVER_STREAMING,
          RangeRequest.parser(),
          RangeStreamResponse.parser());
  public static final MethodDescriptor<PutRequest, PutResponse> PUT =
      method("etcdserverpb.KV/Put", MethodType.UNARY, PutRequest.parser(), PutResponse.parser());
  public static final MethodDescriptor<DeleteRangeRequest, DeleteRangeResponse> DELETE_RANGE =
      method(
          "etcdserverpb.KV/DeleteRange",
          MethodType.UNARY,
          DeleteRangeRequest.parser(),
          DeleteRangeResponse.parser());
  public static final MethodDescriptor<TxnRequest, TxnResponse> TXN =
      method("etcdserverpb.KV/Txn", MethodType.UNARY, TxnRequest.parser(), TxnResponse.parser());
  public static final MethodDescriptor<CompactionRequest, CompactionResponse> COMPACT =
      method(
          "etcdserverpb.KV/Compact",
          MethodType.UNARY,
          CompactionRequest.parser(),
          CompactionResponse.parser());
  public static final MethodDescriptor<WatchRequest, WatchResponse> WATCH =
      method(
          "etcdserverpb.Watch/Watch",
          MethodType.BIDI_STREAMING,
          WatchRequest.parser(),
          WatchResponse.parser());
  public static final MethodDescriptor<LeaseGrantRequest, LeaseGrantResponse> LEASE_GRANT =
      method(
          "etcdserverpb.Lease/LeaseGrant",
          MethodType.UNARY,
          LeaseGrantRequest.parser(),
          LeaseGrantResponse.parser());
  public static final MethodDescriptor<LeaseRevokeRequest, LeaseRevokeResponse> LEASE_REVOKE =
      method(
          "etcdserverpb.Lease/LeaseRevoke",
          MethodType.UNARY,
          LeaseRevokeRequest.parser(),
          LeaseRevokeResponse.parser());
  public static final MethodDescriptor<LeaseKeepAliveRequest, LeaseKeepAliveResponse>
      LEASE_KEEP_ALIVE =
          method(
              "etcdserverpb.Lease/LeaseKeepAlive",
              MethodType.BIDI_STREAMING,
              LeaseKeepAliveRequest.parser(),
              LeaseKeepAliveResponse.parser());
  public static final MethodDescriptor<LeaseTimeToLiveRequest, LeaseTimeToLiveResponse>
      LEASE_TIME_TO_LIVE =
          method(
              "etcdserverpb.Lease/LeaseTimeToLive",
              MethodType.UNARY,
              LeaseTimeToLiveRequest.parser(),
              LeaseTimeToLiveResponse.parser());
  public static final MethodDescriptor<LeaseLeasesRequest, LeaseLeasesResponse> LEASE_LEASES =
      method(
          "etcdserverpb.Lease/LeaseLeases",
          MethodType.UNARY,
          LeaseLeasesRequest.parser(),
          LeaseLeasesResponse.parser());
  public static final MethodDescriptor<MemberAddRequest, MemberAddResponse> MEMBER_ADD =
      method(
          "etcdserverpb.Cluster/MemberAdd",
          MethodType.UNARY,
          MemberAddRequest.parser(),
          MemberAddResponse.parser());
  public static final MethodDescriptor<MemberRemoveRequest, MemberRemoveResponse> MEMBER_REMOVE =
      method(
          "etcdserverpb.Cluster/MemberRemove",
          MethodType.UNARY,
          MemberRemoveRequest.parser(),
          MemberRemoveResponse.parser());
  public static final MethodDescriptor<MemberUpdateRequest, MemberUpdateResponse> MEMBER_UPDATE =
      method(
          "etcdserverpb.Cluster/MemberUpdate",
          MethodType.UNARY,
          MemberUpdateRequest.parser(),
          MemberUpdateResponse.parser());
  public static final MethodDescriptor<MemberListRequest, MemberListResponse> MEMBER_LIST =
      method(
          "etcdserverpb.Cluster/MemberList",
          MethodType.UNARY,
          MemberListRequest.parser(),
          MemberListResponse.parser());
  public static final MethodDescriptor<MemberPromoteRequest, MemberPromoteResponse> MEMBER_PROMOTE =
      method(
          "etcdserverpb.Cluster/MemberPromote",
          MethodType.UNARY,
          MemberPromoteRequest.parser(),
          MemberPromoteResponse.parser());
  public static final MethodDescriptor<AlarmRequest, AlarmResponse> ALARM =
      method(
          "etcdserverpb.Maintenance/Alarm",
          MethodType.UNARY,
          AlarmRequest.parser(),
          AlarmResponse.parser());
  public static final MethodDescriptor<StatusRequest, StatusResponse> STATUS =
      method(
          "etcdserverpb.Maintenance/Status",
          MethodType.UNARY,
          StatusRequest.parser(),
          StatusResponse.parser());
  public static final MethodDescriptor<DefragmentRequest, DefragmentResponse> DEFRAGMENT =
      method(
          "etcdserverpb.Maintenance/Defragment",
          MethodType.UNARY,
          DefragmentRequest.parser(),
          DefragmentResponse.parser());
  public static final MethodDescriptor<HashKVRequest, HashKVResponse> HASH_KV =
      method(
          "etcdserverpb.Maintenance/HashKV",
          MethodType.UNARY,
          HashKVRequest.parser(),
          HashKVResponse.parser());
  public static final MethodDescriptor<SnapshotRequest, SnapshotResponse> SNAPSHOT =
      method(
          "etcdserverpb.Maintenance/Snapshot",
          MethodType.SERVER_STREAMING,
          SnapshotRequest.parser(),
          SnapshotResponse.parser());
  public static final MethodDescriptor<MoveLeaderRequest, MoveLeaderResponse> MOVE_LEADER =
      method(
          "etcdserverpb.Maintenance/MoveLeader",
          MethodType.UNARY,
          MoveLeaderRequest.parser(),
          MoveLeaderResponse.parser());
  public static final MethodDescriptor<DowngradeRequest, DowngradeResponse> DOWNGRADE =
      method(
          "etcdserverpb.Maintenance/Downgrade",
          MethodType.UNARY,
          DowngradeRequest.parser(),
          DowngradeResponse.parser());
  public static final MethodDescriptor<AuthEnableRequest, AuthEnableResponse> AUTH_ENABLE =
      method(
          "etcdserverpb.Auth/AuthEnable",
          MethodType.UNARY,
          AuthEnableRequest.parser(),
          AuthEnableResponse.parser());
  public static final MethodDescriptor<AuthDisableRequest, AuthDisableResponse> AUTH_DISABLE =
      method(
          "etcdserverpb.Auth/AuthDisable",
          MethodType.UNARY,
          AuthDisableRequest.parser(),
          AuthDisableResponse.parser());
  public static final MethodDescriptor<AuthStatusRequest, AuthStatusResponse> AUTH_STATUS =
      method(
          "etcdserverpb.Auth/AuthStatus",
          MethodType.UNARY,
          AuthStatusRequest.parser(),
          AuthStatusResponse.parser());
  public static final MethodDescriptor<AuthenticateRequest, AuthenticateResponse> AUTHENTICATE =
      method(
          "etcdserverpb.Auth/Authenticate",
          MethodType.UNARY,
          AuthenticateRequest.parser(),
          AuthenticateResponse.parser());
  public static final MethodDescriptor<AuthUserAddRequest, AuthUserAddResponse> USER_ADD =
      method(
          "etcdserverpb.Auth/UserAdd",
          MethodType.UNARY,
          AuthUserAddRequest.parser(),
          AuthUserAddResponse.parser());
  public static final MethodDescriptor<AuthUserGetRequest, AuthUserGetResponse> USER_GET =
      method(
          "etcdserverpb.Auth/UserGet",
          MethodType.UNARY,
          AuthUserGetRequest.parser(),
          AuthUserGetResponse.parser());
  public static final MethodDescriptor<AuthUserListRequest, AuthUserListResponse> USER_LIST =
      method(
          "etcdserverpb.Auth/UserList",
          MethodType.UNARY,
          AuthUserListRequest.parser(),
          AuthUserListResponse.parser());
  public static final MethodDescriptor<AuthUserDeleteRequest, AuthUserDeleteResponse> USER_DELETE =
      method(
          "etcdserverpb.Auth/UserDelete",
          MethodType.UNARY,
          AuthUserDeleteRequest.parser(),
          AuthUserDeleteResponse.parser());
  public static final MethodDescriptor<
          AuthUserChangePasswordRequest, AuthUserChangePasswordResponse>
      USER_CHANGE_PASSWORD =
          method(
              "etcdserverpb.Auth/UserChangePassword",
              MethodType.UNARY,
              AuthUserChangePasswordRequest.parser(),
              AuthUserChangePasswordResponse.parser());
  public static final MethodDescriptor<AuthUserGrantRoleRequest, AuthUserGrantRoleResponse>
      USER_GRANT_ROLE =
          method(
              "etcdserverpb.Auth/UserGrantRole",
              MethodType.UNARY,
              AuthUserGrantRoleRequest.parser(),
              AuthUserGrantRoleResponse.parser());
  public static final MethodDescriptor<AuthUserRevokeRoleRequest, AuthUserRevokeRoleResponse>
      USER_REVOKE_ROLE =
          method(
              "etcdserverpb.Auth/UserRevokeRole",
              MethodType.UNARY,
              AuthUserRevokeRoleRequest.parser(),
              AuthUserRevokeRoleResponse.parser());
  public static final MethodDescriptor<AuthRoleAddRequest, AuthRoleAddResponse> ROLE_ADD =
      method(
          "etcdserverpb.Auth/RoleAdd",
          MethodType.UNARY,
          AuthRoleAddRequest.parser(),
          AuthRoleAddResponse.parser());
  public static final MethodDescriptor<AuthRoleGetRequest, AuthRoleGetResponse> ROLE_GET =
      method(
          "etcdserverpb.Auth/RoleGet",
          MethodType.UNARY,
          AuthRoleGetRequest.parser(),
          AuthRoleGetResponse.parser());
  public static final MethodDescriptor<AuthRoleListRequest, AuthRoleListResponse> ROLE_LIST =
      method(
          "etcdserverpb.Auth/RoleList",
          MethodType.UNARY,
          AuthRoleListRequest.parser(),
          AuthRoleListResponse.parser());
  public static final MethodDescriptor<AuthRoleDeleteRequest, AuthRoleDeleteResponse> ROLE_DELETE =
      method(
          "etcdserverpb.Auth/RoleDelete",
          MethodType.UNARY,
          AuthRoleDeleteRequest.parser(),
          AuthRoleDeleteResponse.parser());
  public static final MethodDescriptor<
          AuthRoleGrantPermissionRequest, AuthRoleGrantPermissionResponse>
      ROLE_GRANT_PERMISSION =
          method(
              "etcdserverpb.Auth/RoleGrantPermission",
              MethodType.UNARY,
              AuthRoleGrantPermissionRequest.parser(),
              AuthRoleGrantPermissionResponse.parser());
  public static final MethodDescriptor<
          AuthRoleRevokePermissionRequest, AuthRoleRevokePermissionResponse>
      ROLE_REVOKE_PERMISSION =
          method(
              "etcdserverpb.Auth/RoleRevokePermission",
              MethodType.UNARY,
              AuthRoleRevokePermissionRequest.parser(),
              AuthRoleRevokePermissionResponse.parser());
  public static final MethodDescriptor<LockRequest, LockResponse> LOCK =
      method("v3lockpb.Lock/Lock", MethodType.UNARY, LockRequest.parser(), LockResponse.parser());
  public static final MethodDescriptor<UnlockRequest, UnlockResponse> UNLOCK =
      method(
          "v3lockpb.Lock/Unlock",
          MethodType.UNARY,
          UnlockRequest.parser(),
          UnlockResponse.parser());
  public static final MethodDescriptor<CampaignRequest, CampaignResponse> CAMPAIGN =
      method(
          "v3electionpb.Election/Campaign",
          MethodType.UNARY,
          CampaignRequest.parser(),
          CampaignResponse.parser());
  public static final MethodDescriptor<LeaderRequest, LeaderResponse> OBSERVE =
      method(
          "v3electionpb.Election/Observe",
          MethodType.SERVER_STREAMING,
          LeaderRequest.parser(),
          LeaderResponse.parser());
  public static final MethodDescriptor<ResignRequest, ResignResponse> RESIGN =
      method(
          "v3electionpb.Election/Resign",
          MethodType.UNARY,
          ResignRequest.parser(),
          ResignResponse.parser());

  /** Of Troupe alone. */
  public static final MethodDescriptor<BackupRequest, BackupResponse> BACKUP =
      method(
          "troupe.backup.v1.Backup/Write",
          MethodType.UNARY,
          BackupRequest.parser(),
          BackupResponse.parser());

  private EtcdMethods() {}

  private static <Q extends MessageLite, R extends MessageLite> MethodDescriptor<Q, R> method(
      String name, MethodType type, Parser<Q> requests, Parser<R> responses) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(type)
        .setFullMethodName(name)
        .setRequestMarshaller(new MessageMarshaller<>(requests))
        .setResponseMarshaller(new MessageMarshaller<>(responses))
        .build();
  }
}
