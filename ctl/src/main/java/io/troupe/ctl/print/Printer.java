package io.troupe.ctl.print;

import com.google.protobuf.Message;
import io.troupe.grpc.api.AlarmResponse;
import io.troupe.grpc.api.AuthRoleAddResponse;
import io.troupe.grpc.api.AuthRoleDeleteResponse;
import io.troupe.grpc.api.AuthRoleGetResponse;
import io.troupe.grpc.api.AuthRoleGrantPermissionResponse;
import io.troupe.grpc.api.AuthRoleListResponse;
import io.troupe.grpc.api.AuthRoleRevokePermissionResponse;
import io.troupe.grpc.api.AuthStatusResponse;
import io.troupe.grpc.api.AuthUserAddResponse;
import io.troupe.grpc.api.AuthUserChangePasswordResponse;
import io.troupe.grpc.api.AuthUserDeleteResponse;
import io.troupe.grpc.api.AuthUserGetResponse;
import io.troupe.grpc.api.AuthUserGrantRoleResponse;
import io.troupe.grpc.api.AuthUserListResponse;
import io.troupe.grpc.api.AuthUserRevokeRoleResponse;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.DowngradeResponse;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseLeasesResponse;
import io.troupe.grpc.api.LeaseRevokeResponse;
import io.troupe.grpc.api.LeaseTimeToLiveResponse;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.MemberPromoteResponse;
import io.troupe.grpc.api.MemberRemoveResponse;
import io.troupe.grpc.api.MemberUpdateResponse;
import io.troupe.grpc.api.MoveLeaderResponse;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.backup.BackupResponse;
import java.util.List;

/**
 * An output mode. Each method prints one response. A mode overrides the methods of the responses
 * that it has a form for.
 */
public interface Printer {
  /** Prints a response without a form of its own, or refuses it. */
  void other(Message response);

  /**
   * The modes without a table of endpoints refuse it.
   *
   * @throws io.troupe.ctl.cli.CtlException always
   */
  void refuse();

  default void endpointHealth(List<EndpointHealth> endpoints) {
    refuse();
  }

  default void endpointStatus(List<EndpointStatus> endpoints) {
    refuse();
  }

  default void endpointHash(List<EndpointHash> endpoints) {
    refuse();
  }

  default void range(RangeResponse r) {
    other(r);
  }

  default void put(PutResponse r) {
    other(r);
  }

  default void delete(DeleteRangeResponse r) {
    other(r);
  }

  default void txn(TxnResponse r) {
    other(r);
  }

  default void watch(WatchResponse r) {
    other(r);
  }

  default void grant(LeaseGrantResponse r) {
    other(r);
  }

  default void revoke(long id, LeaseRevokeResponse r) {
    other(r);
  }

  default void keepAlive(LeaseKeepAliveResponse r) {
    other(r);
  }

  default void timeToLive(LeaseTimeToLiveResponse r, boolean keys) {
    other(r);
  }

  default void leases(LeaseLeasesResponse r) {
    other(r);
  }

  default void memberAdd(MemberAddResponse r) {
    other(r);
  }

  default void memberRemove(long id, MemberRemoveResponse r) {
    other(r);
  }

  default void memberUpdate(long id, MemberUpdateResponse r) {
    other(r);
  }

  default void memberPromote(long id, MemberPromoteResponse r) {
    other(r);
  }

  default void memberList(MemberListResponse r) {
    other(r);
  }

  default void moveLeader(long from, long to, MoveLeaderResponse r) {
    other(r);
  }

  /**
   * @param action {@code validate}, {@code enable} or {@code cancel}
   */
  default void downgrade(String action, DowngradeResponse r) {
    other(r);
  }

  default void alarm(AlarmResponse r) {
    other(r);
  }

  default void backup(BackupResponse r) {
    other(r);
  }

  default void roleAdd(String role, AuthRoleAddResponse r) {
    other(r);
  }

  default void roleGet(String role, AuthRoleGetResponse r) {
    other(r);
  }

  default void roleDelete(String role, AuthRoleDeleteResponse r) {
    other(r);
  }

  default void roleList(AuthRoleListResponse r) {
    other(r);
  }

  default void roleGrant(String role, AuthRoleGrantPermissionResponse r) {
    other(r);
  }

  default void roleRevoke(String role, String key, String end, AuthRoleRevokePermissionResponse r) {
    other(r);
  }

  default void userAdd(String user, AuthUserAddResponse r) {
    other(r);
  }

  default void userGet(String user, AuthUserGetResponse r) {
    other(r);
  }

  default void userList(AuthUserListResponse r) {
    other(r);
  }

  default void userPassword(AuthUserChangePasswordResponse r) {
    other(r);
  }

  default void userGrant(String user, String role, AuthUserGrantRoleResponse r) {
    other(r);
  }

  default void userRevoke(String user, String role, AuthUserRevokeRoleResponse r) {
    other(r);
  }

  default void userDelete(String user, AuthUserDeleteResponse r) {
    other(r);
  }

  default void authStatus(AuthStatusResponse r) {
    other(r);
  }
}
