package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.delete;
import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.op;
import static io.troupe.tests.conformance.Requests.put;
import static io.troupe.tests.conformance.Requests.txn;
import static io.troupe.tests.conformance.Requests.watch;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Status.Code;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmRequest.AlarmAction;
import io.troupe.grpc.api.AlarmResponse;
import io.troupe.grpc.api.AlarmType;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.DefragmentRequest;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.HashKVResponse;
import io.troupe.grpc.api.HashRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import io.troupe.grpc.api.health.HealthCheckRequest;
import io.troupe.grpc.api.health.HealthCheckResponse;
import io.troupe.grpc.api.health.HealthCheckResponse.ServingStatus;
import io.troupe.grpc.api.health.HealthListRequest;
import io.troupe.grpc.api.health.HealthListResponse;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.13 for a single member, M9, alarms (section 2.15), the health service. */
class MaintenanceConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final String NO_SPACE = "etcdserver: mvcc: database space exceeded";
  private static final String CORRUPT = "etcdserver: corrupt cluster";

  private final ApiClient client = STORE.client();

  @AfterEach
  void disarm() {
    for (AlarmMember alarm : alarm(AlarmAction.GET, 0, AlarmType.NONE).getAlarmsList()) {
      alarm(AlarmAction.DEACTIVATE, alarm.getMemberID(), alarm.getAlarm());
    }
  }

  private AlarmResponse alarm(AlarmAction action, long member, AlarmType type) {
    return client.call(
        Api.ALARM,
        AlarmRequest.newBuilder().setAction(action).setMemberID(member).setAlarm(type).build());
  }

  private StatusResponse status() {
    return client.call(Api.STATUS, StatusRequest.getDefaultInstance());
  }

  private HashKVResponse hash(long revision) {
    return client.call(Api.HASH_KV, HashKVRequest.newBuilder().setRevision(revision).build());
  }

  @Test
  void statusOfHealthyMember_MT1() {
    client.put(STORE.key("a"), "1");
    StatusResponse status = status();
    assertThat(status.getVersion()).startsWith("3.");
    assertThat(status.getDbSize()).isPositive();
    assertThat(status.getDbSizeInUse()).isPositive().isLessThanOrEqualTo(status.getDbSize());
    assertThat(status.getLeader()).isEqualTo(status.getHeader().getMemberId()).isNotZero();
    assertThat(status.getRaftIndex()).isPositive();
    assertThat(status.getRaftAppliedIndex())
        .isPositive()
        .isLessThanOrEqualTo(status.getRaftIndex());
    assertThat(status.getRaftTerm()).isEqualTo(status.getHeader().getRaftTerm()).isPositive();
    assertThat(status.getIsLearner()).isFalse();
    assertThat(status.getErrorsList()).isEmpty();
    assertThat(status.getHeader().getRevision()).isEqualTo(client.revision());
    assertThat(status.getHeader().getClusterId()).isNotZero();
  }

  @Test
  void statusHasFieldsOf36And37_MT1() {
    STORE.needs37();
    StatusResponse status = status();
    assertThat(status.getVersion()).isEqualTo("3.7.1");
    assertThat(status.getStorageVersion()).isEqualTo("3.7.0");
    assertThat(status.getDbSizeQuota()).isEqualTo(2_147_483_648L);
    assertThat(status.hasDowngradeInfo()).isTrue();
    assertThat(status.getDowngradeInfo().getEnabled()).isFalse();
  }

  @Test
  void alarmsAreRaisedListedAndDisarmed_MT3() {
    long revision = client.revision();
    assertThat(alarm(AlarmAction.GET, 0, AlarmType.NONE).getAlarmsList()).isEmpty();
    AlarmMember noSpace =
        AlarmMember.newBuilder().setMemberID(11).setAlarm(AlarmType.NOSPACE).build();
    AlarmMember corrupt =
        AlarmMember.newBuilder().setMemberID(12).setAlarm(AlarmType.CORRUPT).build();

    assertThat(alarm(AlarmAction.ACTIVATE, 11, AlarmType.NOSPACE).getAlarmsList())
        .containsExactly(noSpace);
    assertThat(alarm(AlarmAction.ACTIVATE, 11, AlarmType.NOSPACE).getAlarmsList())
        .containsExactly(noSpace);
    alarm(AlarmAction.ACTIVATE, 12, AlarmType.CORRUPT);
    alarm(AlarmAction.ACTIVATE, 13, AlarmType.NONE);

    assertThat(alarm(AlarmAction.GET, 99, AlarmType.NONE).getAlarmsList())
        .containsExactlyInAnyOrder(noSpace, corrupt);
    assertThat(alarm(AlarmAction.GET, 0, AlarmType.CORRUPT).getAlarmsList())
        .containsExactly(corrupt);
    assertThat(status().getErrorsList()).hasSize(2).anyMatch(text -> text.contains("memberID:11"));
    assertThat(alarm(AlarmAction.DEACTIVATE, 11, AlarmType.CORRUPT).getAlarmsList()).isEmpty();
    assertThat(alarm(AlarmAction.DEACTIVATE, 11, AlarmType.NOSPACE).getAlarmsList())
        .containsExactly(noSpace);
    assertThat(alarm(AlarmAction.DEACTIVATE, 11, AlarmType.NOSPACE).getAlarmsList()).isEmpty();
    assertThat(client.revision()).as("R3").isEqualTo(revision);
  }

  @Test
  void nospaceRefusesOnlyGrowth_Q2() {
    long lease = client.grant(60).getID();
    client.put(STORE.key("a"), "1");
    long revision = client.put(STORE.key("a"), "2").getHeader().getRevision();
    alarm(AlarmAction.ACTIVATE, 11, AlarmType.NOSPACE);

    client.refused(Api.PUT, put("a", "1").build(), Code.RESOURCE_EXHAUSTED, NO_SPACE);
    client.refused(Api.TXN, txn(op(put("a", "1"))).build(), Code.RESOURCE_EXHAUSTED, NO_SPACE);
    client.refused(
        Api.GRANT,
        LeaseGrantRequest.newBuilder().setTTL(60).build(),
        Code.RESOURCE_EXHAUSTED,
        NO_SPACE);
    assertThat(client.get(STORE.key("a")).getCount()).isEqualTo(1);
    client.compact(revision);
    assertThat(client.delete(delete(STORE.key("a"))).getDeleted()).as("D4").isEqualTo(1);
    client.txn(txn(op(delete(STORE.key("a")))));
    client.revoke(lease);
    alarm(AlarmAction.DEACTIVATE, 11, AlarmType.NOSPACE);
    client.put(STORE.key("a"), "3");
  }

  @Test
  void corruptAlarmRefusesWrites_Q4() {
    long lease = client.grant(60).getID();
    client.put(STORE.key("a"), "1");
    alarm(AlarmAction.ACTIVATE, 11, AlarmType.NOSPACE);
    alarm(AlarmAction.ACTIVATE, 11, AlarmType.CORRUPT);

    client.refused(Api.PUT, put("a", "1").build(), Code.DATA_LOSS, CORRUPT);
    client.refused(Api.DELETE, delete("a").build(), Code.DATA_LOSS, CORRUPT);
    client.refused(Api.TXN, txn(op(delete("a"))).build(), Code.DATA_LOSS, CORRUPT);
    client.refused(
        Api.COMPACT,
        CompactionRequest.newBuilder().setRevision(1).build(),
        Code.DATA_LOSS,
        CORRUPT);
    client.refused(
        Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(60).build(), Code.DATA_LOSS, CORRUPT);
    client.refused(
        Api.REVOKE, LeaseRevokeRequest.newBuilder().setID(lease).build(), Code.DATA_LOSS, CORRUPT);
    assertThat(client.get(STORE.key("a")).getCount()).isEqualTo(1);
    assertThat(client.txn(txn(op(get(STORE.key("a"))))).getSucceeded()).isTrue();
    try (WatchStream watch = client.watch()) {
      assertThat(watch.create(watch(STORE.key("a"))).getCanceled()).isFalse();
    }
  }

  @Test
  void defragmentKeepsContent_MT5() {
    client.put(STORE.key("a"), "1");
    int before = hash(0).getHash();
    client.call(Api.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
    assertThat(hash(0).getHash()).isEqualTo(before);
    assertThat(client.get(STORE.key("a")).getCount()).isEqualTo(1);
  }

  /** Q3: the store must be below the quota before the next disarm. */
  @Test
  void defragmentRespondsAfterSpaceIsFree_MT5() {
    byte[] value = new byte[1 << 20];
    SplittableRandom random = new SplittableRandom(7);
    long revision = 0;
    for (int i = 0; i < 64; i++) {
      random.nextBytes(value);
      revision =
          client
              .put(
                  PutRequest.newBuilder()
                      .setKey(bytes(STORE.key("space")))
                      .setValue(ByteString.copyFrom(value)))
              .getHeader()
              .getRevision();
    }
    // The size is up to a tenth of a second old.
    ServedStore.await().until(() -> status().getDbSize() > 64L << 20);
    long before = status().getDbSize();
    client.delete(delete(STORE.key("space")));
    client.call(
        Api.COMPACT,
        CompactionRequest.newBuilder().setRevision(revision + 1).setPhysical(true).build());
    client.call(Api.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
    assertThat(status().getDbSize()).isLessThan(before / 4);
  }

  @Test
  void alarmWithoutMemberHasIdZero_MT1() {
    alarm(AlarmAction.ACTIVATE, 0, AlarmType.CORRUPT);
    assertThat(status().getErrorsList()).containsExactly("alarm:CORRUPT");
  }

  @Test
  void invalidHashKvRequestsAreRefused_MT6() {
    long revision = client.put(STORE.key("a"), "1").getHeader().getRevision();
    client.put(STORE.key("a"), "2");
    client.put(STORE.key("a"), "3");
    client.compact(revision + 1);
    client.refused(
        Api.HASH_KV,
        HashKVRequest.newBuilder().setRevision(revision + 3).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision is a future revision");
    client.refused(
        Api.HASH_KV,
        HashKVRequest.newBuilder().setRevision(revision).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision has been compacted");
    HashKVResponse current = hash(0);
    assertThat(current.getCompactRevision()).isEqualTo(revision + 1);
    assertThat(current.getHeader().getRevision()).isEqualTo(revision + 2);
    client.call(Api.HASH, HashRequest.getDefaultInstance());
  }

  @Test
  void hashDependsOnContentAndRevisionOnly_MT7() {
    long revision = client.put(STORE.key("a"), "1").getHeader().getRevision();
    int first = hash(0).getHash();
    client.put(STORE.key("a"), "2");
    assertThat(hash(revision).getHash()).isEqualTo(first);
    assertThat(hash(0).getHash()).isNotEqualTo(first).isEqualTo(hash(revision + 1).getHash());
  }

  private static void assertSame(HashKVResponse now, HashKVResponse before) {
    assertThat(now.getHash()).isEqualTo(before.getHash());
    assertThat(now.getCompactRevision()).isEqualTo(before.getCompactRevision());
    assertThat(now.getHashRevision()).isEqualTo(before.getHashRevision());
  }

  /** Repeats etcd's own test of HashKV across compaction and defragmentation. */
  @Test
  void hashOfRevisionIsStableAfterCompaction_MT6() {
    for (int i = 0; i < 10; i++) {
      client.put(STORE.key("a"), "v" + i);
    }
    long first = client.delete(delete(STORE.key("a"))).getHeader().getRevision();
    for (int i = 0; i < 10; i++) {
      client.put(STORE.key("a"), "w" + i);
    }
    HashKVResponse before = hash(first);
    client.call(
        Api.COMPACT, CompactionRequest.newBuilder().setRevision(first).setPhysical(true).build());
    client.call(Api.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
    assertSame(hash(first), before);

    long second = client.revision();
    HashKVResponse later = hash(second);
    assertThat(later.getCompactRevision()).isEqualTo(first);
    client.call(
        Api.COMPACT, CompactionRequest.newBuilder().setRevision(second).setPhysical(true).build());
    long current = client.put(STORE.key("a"), "more").getHeader().getRevision();
    assertSame(hash(second), later);
    assertSame(hash(first), before);
    assertThat(hash(first).getHeader().getRevision()).isEqualTo(current);
  }

  @Test
  void responseHasHashRevision_MT6() {
    STORE.needs37();
    long revision = client.put(STORE.key("a"), "1").getHeader().getRevision();
    client.put(STORE.key("a"), "2");
    assertThat(hash(revision).getHashRevision()).isEqualTo(revision);
    assertThat(hash(0).getHashRevision()).isEqualTo(revision + 1);
  }

  @Test
  void memberListNamesMember_M9() {
    for (boolean linearizable : new boolean[] {true, false}) {
      MemberListResponse list =
          client.call(
              Api.MEMBER_LIST,
              MemberListRequest.newBuilder().setLinearizable(linearizable).build());
      assertThat(list.getMembersList()).hasSize(1);
      Member member = list.getMembers(0);
      assertThat(member.getID()).isEqualTo(list.getHeader().getMemberId()).isNotZero();
      assertThat(member.getName()).isEqualTo("default");
      assertThat(member.getIsLearner()).isFalse();
      assertThat(member.getPeerURLsList()).hasSize(1);
      assertThat(member.getClientURLsList()).hasSize(1);
      assertThat(list.getHeader().getRaftTerm()).isPositive();
    }
  }

  @Test
  void healthOfEmptyNameIsServing() {
    HealthCheckResponse response =
        client.call(Api.HEALTH_CHECK, HealthCheckRequest.getDefaultInstance());
    assertThat(response.getStatus()).isEqualTo(ServingStatus.SERVING);
  }

  @Test
  void healthOfUnknownNameIsNotFound() {
    client.refused(
        Api.HEALTH_CHECK,
        HealthCheckRequest.newBuilder().setService("etcdserverpb.KV").build(),
        Code.NOT_FOUND,
        "unknown service");
  }

  @Test
  void healthListReportsServices() {
    STORE.needs37();
    HealthListResponse list = client.call(Api.HEALTH_LIST, HealthListRequest.getDefaultInstance());
    assertThat(list.getStatusesMap()).containsOnlyKeys("");
  }

  @Test
  void healthWatchReportsStatusAndStaysOpen() {
    for (String name : List.of("", "other")) {
      ClientCall<HealthCheckRequest, HealthCheckResponse> call =
          client.channel().newCall(Api.HEALTH_WATCH, CallOptions.DEFAULT);
      StreamResponses<HealthCheckResponse> answers = new StreamResponses<>();
      ClientCalls.asyncServerStreamingCall(
          call, HealthCheckRequest.newBuilder().setService(name).build(), answers);
      assertThat(answers.next().getStatus())
          .isEqualTo(name.isEmpty() ? ServingStatus.SERVING : ServingStatus.SERVICE_UNKNOWN);
      call.cancel("test is over", null);
      assertThat(answers.end().getCode()).isEqualTo(Code.CANCELLED);
    }
  }
}
