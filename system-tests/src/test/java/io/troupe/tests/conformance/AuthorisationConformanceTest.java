package io.troupe.tests.conformance;

import static io.grpc.Status.Code.INVALID_ARGUMENT;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmRequest.AlarmAction;
import io.troupe.grpc.api.AlarmType;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.Compare.CompareResult;
import io.troupe.grpc.api.Compare.CompareTarget;
import io.troupe.grpc.api.DefragmentRequest;
import io.troupe.grpc.api.DowngradeRequest;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.HashRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseLeasesRequest;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberPromoteRequest;
import io.troupe.grpc.api.MemberRemoveRequest;
import io.troupe.grpc.api.MemberUpdateRequest;
import io.troupe.grpc.api.MoveLeaderRequest;
import io.troupe.grpc.api.SnapshotRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.auth.Permission;
import io.troupe.grpc.api.health.HealthCheckRequest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Permissions of a user on keys, leases, watches and members (A3, A12, A13 and the rows of each
 * service).
 */
class AuthorisationConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create().with("bcrypt-cost", "4");

  private AuthClient anonymous = AuthClient.anonymous(STORE.client());
  private AuthClient root = anonymous;

  /** May read and write everything below "rw/", read "r/", write "w/". */
  private AuthClient user = anonymous;

  private String rw = "";
  private String r = "";
  private String w = "";

  @BeforeEach
  void begin() {
    anonymous = AuthClient.anonymous(STORE.client());
    String test = STORE.key("");
    rw = test + "rw/";
    r = test + "r/";
    w = test + "w/";
    if (!anonymous.call(AuthClient.STATUS, AuthStatusRequest.getDefaultInstance()).getEnabled()) {
      anonymous.userAdd("root", "pw");
      anonymous.grantRole("root", "root");
      anonymous.enable();
    }
    root = anonymous.login("root", "pw");
    String name = "user of " + test;
    root.userAdd(name, "1");
    root.roleAdd(name);
    root.grantRole(name, name);
    allow(name, Permission.Type.READWRITE, rw);
    allow(name, Permission.Type.READ, r);
    allow(name, Permission.Type.WRITE, w);
    user = anonymous.login(name, "1");
  }

  private void allow(String role, Permission.Type type, String prefix) {
    root.grant(role, type, prefix, Requests.prefixEnd(prefix).toStringUtf8());
  }

  private String name() {
    return "user of " + STORE.key("");
  }

  @Test
  void readsNeedPermissionForWholeRange_G11_A12() {
    user.call(Api.RANGE, Requests.prefix(rw).build());
    user.call(Api.RANGE, Requests.prefix(r).setSerializable(true).build());
    user.denied(Api.RANGE, Requests.get(w + "a").build());
    user.denied(Api.RANGE, Requests.prefix(STORE.key("")).build());
    user.denied(
        Api.RANGE,
        Requests.get(r).setRangeEnd(Requests.prefixEnd(rw)).setSerializable(true).build());
    user.denied(Api.RANGE, Requests.get(r).setRangeEnd(Requests.ZERO).build());
    user.call(Api.RANGE_STREAM, Requests.prefix(rw).build());
    user.denied(Api.RANGE_STREAM, Requests.get(w + "a").build());
    anonymous.nameless(Api.RANGE_STREAM, Requests.prefix(rw).build());
    // Read and write permissions of adjacent grants: [r/, r0) ends where no other grant begins.
    root.grant(name(), Permission.Type.READ, r.substring(0, r.length() - 1) + "0", rw);
    user.call(Api.RANGE, Requests.get(r).setRangeEnd(Requests.prefixEnd(rw)).build());
  }

  @Test
  void writesNeedPermissionForKey_P7_D3() {
    user.call(Api.PUT, Requests.put(w + "a", "1").build());
    user.denied(Api.PUT, Requests.put(r + "a", "1").build());
    user.denied(Api.PUT, Requests.put(w + "a", "1").setPrevKv(true).build());
    user.call(Api.PUT, Requests.put(rw + "a", "1").setPrevKv(true).build());
    user.call(Api.DELETE, Requests.deletePrefix(w).build());
    user.denied(Api.DELETE, Requests.deletePrefix(w).setPrevKv(true).build());
    user.denied(Api.DELETE, Requests.deletePrefix(r).build());
    user.call(Api.DELETE, Requests.deletePrefix(rw).setPrevKv(true).build());
    anonymous.nameless(Api.DELETE, Requests.deletePrefix(w).build());
  }

  @Test
  void bothBranchesOfTransactionAreChecked_X14() {
    user.call(Api.TXN, Requests.txn(Requests.op(Requests.put(w + "a", "1"))).build());
    user.call(Api.TXN, Requests.txn(Requests.op(Requests.get(r + "a"))).build());
    user.denied(Api.TXN, Requests.txn(Requests.op(Requests.get(w + "a"))).build());
    user.denied(
        Api.TXN,
        TxnRequest.newBuilder().addFailure(Requests.op(Requests.put(r + "a", "1"))).build());
    user.denied(
        Api.TXN,
        TxnRequest.newBuilder()
            .addCompare(Requests.compare(w + "a", CompareTarget.VERSION, CompareResult.EQUAL))
            .addSuccess(Requests.op(Requests.put(w + "b", "1")))
            .build());
    TxnRequest.Builder inner =
        TxnRequest.newBuilder().addFailure(Requests.op(Requests.delete(r + "a")));
    user.denied(Api.TXN, Requests.txn(Requests.op(inner)).build());
    user.denied(
        Api.TXN, Requests.txn(Requests.op(Requests.delete(w + "a").setPrevKv(true))).build());
  }

  @Test
  void leaseWithForeignKeysCannotBeRevoked_P7_L14() {
    long lease = root.call(Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(600).build()).getID();
    long own = user.call(Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(600).build()).getID();
    anonymous.nameless(Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(600).build());
    user.call(Api.PUT, Requests.put(w + "a", "1").setLease(lease).build());
    root.call(Api.PUT, Requests.put(STORE.key("secret"), "1").setLease(lease).build());
    user.denied(Api.PUT, Requests.put(w + "b", "1").setLease(lease).build());
    user.denied(
        Api.TXN, Requests.txn(Requests.op(Requests.put(w + "b", "1").setLease(lease))).build());
    user.denied(Api.REVOKE, LeaseRevokeRequest.newBuilder().setID(lease).build());
    anonymous.nameless(Api.REVOKE, LeaseRevokeRequest.newBuilder().setID(lease).build());
    user.call(Api.TIME_TO_LIVE, LeaseTimeToLiveRequest.newBuilder().setID(lease).build());
    user.denied(
        Api.TIME_TO_LIVE, LeaseTimeToLiveRequest.newBuilder().setID(lease).setKeys(true).build());
    anonymous.nameless(Api.TIME_TO_LIVE, LeaseTimeToLiveRequest.newBuilder().setID(lease).build());
    user.denied(Api.LEASES, LeaseLeasesRequest.getDefaultInstance());
    anonymous.nameless(Api.LEASES, LeaseLeasesRequest.getDefaultInstance());
    root.call(Api.LEASES, LeaseLeasesRequest.getDefaultInstance());
    try (KeepAliveStream renewals = new KeepAliveStream(user.channel())) {
      assertThat(renewals.renew(own).getTTL()).isEqualTo(600);
      renewals.send(lease);
      assertThat(renewals.finish().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
    }
    user.call(Api.REVOKE, LeaseRevokeRequest.newBuilder().setID(own).build());
    user.refused(
        Api.REVOKE,
        LeaseRevokeRequest.newBuilder().setID(own).build(),
        Status.Code.NOT_FOUND,
        "etcdserver: requested lease not found");
    root.call(Api.REVOKE, LeaseRevokeRequest.newBuilder().setID(lease).build());
  }

  @Test
  void leaseExpiresWithoutPermission_A17() {
    long lease = user.call(Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(1).build()).getID();
    user.call(Api.PUT, Requests.put(rw + "a", "1").setLease(lease).build());
    ServedStore.await()
        .until(() -> user.call(Api.RANGE, Requests.get(rw + "a").build()).getCount() == 0);
  }

  @Test
  void watchesNeedPermissionForWholeRange_W18() {
    try (WatchStream watch = new WatchStream(user.channel())) {
      assertThat(watch.create(Requests.watchPrefix(r)).getCanceled()).isFalse();
      assertRefused(
          watch.create(Requests.watchPrefix(STORE.key(""))),
          "rpc error: code = PermissionDenied desc = etcdserver: permission denied");
      // The check comes after the check of a negative start and before that of an empty range.
      assertRefused(
          watch.create(Requests.watch(w).setStartRevision(-1)),
          "etcdserver: mvcc: required revision has been compacted");
      assertRefused(
          watch.create(Requests.watch(w + "b").setRangeEnd(Requests.bytes(w + "a"))),
          "rpc error: code = PermissionDenied desc = etcdserver: permission denied");
      root.call(Api.PUT, Requests.put(r + "a", "1").build());
      assertThat(watch.next().getEventsCount()).isEqualTo(1);
    }
    try (WatchStream watch = new WatchStream(anonymous.channel())) {
      assertRefused(
          watch.create(Requests.watchPrefix(r)),
          "rpc error: code = InvalidArgument desc = etcdserver: user name is empty");
    }
    try (WatchStream watch = new WatchStream(anonymous.showing("x").channel())) {
      assertRefused(
          watch.create(Requests.watchPrefix(r)),
          "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token");
    }
  }

  private static void assertRefused(WatchResponse response, String reason) {
    assertThat(response.getCanceled()).isTrue();
    assertThat(response.getWatchId()).isEqualTo(-1);
    assertThat(response.getCancelReason()).isEqualTo(reason);
  }

  /** Intended difference from etcd: docs/conformance.md. */
  @Test
  void watchIsCancelledWhenPermissionIsRevoked() {
    STORE.needsOwn();
    try (WatchStream watch = new WatchStream(user.channel())) {
      long ending = watch.create(Requests.watchPrefix(r)).getWatchId();
      long staying = watch.create(Requests.watchPrefix(rw)).getWatchId();
      root.call(
          AuthClient.REVOKE_PERMISSION,
          AuthClient.revoking(name(), r, Requests.prefixEnd(r).toStringUtf8()));
      root.call(Api.PUT, Requests.put(r + "a", "1").build());
      root.call(Api.PUT, Requests.put(rw + "a", "1").build());
      WatchResponse canceled = watch.next();
      assertThat(canceled.getWatchId()).isEqualTo(ending);
      assertThat(canceled.getCanceled()).isTrue();
      assertThat(canceled.getCancelReason())
          .isEqualTo("rpc error: code = PermissionDenied desc = etcdserver: permission denied");
      WatchResponse event = watch.next();
      assertThat(event.getWatchId()).isEqualTo(staying);
      assertThat(event.getEventsCount()).isEqualTo(1);
      root.userDelete(name());
      assertThat(watch.next().getCanceled()).isTrue();
    }
  }

  @Test
  void onlyRootMayOperate_A13_C5_M10_MT3() {
    user.denied(Api.COMPACT, CompactionRequest.newBuilder().setRevision(1).build());
    user.denied(Api.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
    user.denied(Api.HASH, HashRequest.getDefaultInstance());
    user.denied(Api.HASH_KV, HashKVRequest.getDefaultInstance());
    user.denied(Api.MOVE_LEADER, MoveLeaderRequest.getDefaultInstance());
    // Before the version is checked.
    user.denied(Api.DOWNGRADE, DowngradeRequest.newBuilder().setVersion("x").build());
    user.denied(Api.SNAPSHOT, SnapshotRequest.getDefaultInstance());
    user.denied(
        Api.MEMBER_ADD, MemberAddRequest.newBuilder().addPeerURLs("http://127.0.0.1:1").build());
    user.refused(
        Api.MEMBER_ADD,
        MemberAddRequest.newBuilder().addPeerURLs("wrong").build(),
        INVALID_ARGUMENT,
        "etcdserver: given member URLs are invalid");
    user.denied(Api.MEMBER_REMOVE, MemberRemoveRequest.getDefaultInstance());
    user.denied(Api.MEMBER_UPDATE, MemberUpdateRequest.getDefaultInstance());
    user.denied(Api.MEMBER_PROMOTE, MemberPromoteRequest.getDefaultInstance());
    user.denied(
        Api.ALARM,
        AlarmRequest.newBuilder()
            .setAction(AlarmAction.ACTIVATE)
            .setAlarm(AlarmType.NOSPACE)
            .build());
    anonymous.nameless(Api.COMPACT, CompactionRequest.newBuilder().setRevision(1).build());
    anonymous.nameless(Api.MEMBER_REMOVE, MemberRemoveRequest.getDefaultInstance());
    anonymous.nameless(Api.HASH_KV, HashKVRequest.getDefaultInstance());
    anonymous.nameless(Api.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
    anonymous.nameless(Api.SNAPSHOT, SnapshotRequest.getDefaultInstance());
    anonymous.nameless(Api.DOWNGRADE, DowngradeRequest.newBuilder().setVersion("x").build());
    root.call(Api.HASH_KV, HashKVRequest.getDefaultInstance());
    root.call(Api.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
  }

  @Test
  void anyUserMayReadClusterState_M10_MT2_MT3() {
    user.call(Api.STATUS, StatusRequest.getDefaultInstance());
    user.call(Api.MEMBER_LIST, MemberListRequest.getDefaultInstance());
    user.call(Api.MEMBER_LIST, MemberListRequest.newBuilder().setLinearizable(true).build());
    user.call(Api.ALARM, AlarmRequest.getDefaultInstance());
    anonymous.nameless(Api.STATUS, StatusRequest.getDefaultInstance());
    anonymous.nameless(Api.MEMBER_LIST, MemberListRequest.getDefaultInstance());
    anonymous.nameless(
        Api.MEMBER_LIST, MemberListRequest.newBuilder().setLinearizable(true).build());
    anonymous.nameless(Api.ALARM, AlarmRequest.getDefaultInstance());
    // Lease expiry needs no permission (A17).
    anonymous.call(Api.HEALTH_CHECK, HealthCheckRequest.getDefaultInstance());
  }
}
