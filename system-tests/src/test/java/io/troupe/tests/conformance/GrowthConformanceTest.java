package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.MemberRemoveRequest;
import io.troupe.grpc.api.MoveLeaderRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.StatusRequest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A single-member cluster grows to two, and the second member never starts: the quorum is lost
 * permanently, so the order of these tests matters.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class GrowthConformanceTest {
  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create().with("heartbeat-interval", "20 ms").with("election-timeout", "100 ms");

  private final ApiClient client = STORE.client();

  private static MemberAddRequest voter(String url) {
    return MemberAddRequest.newBuilder().addPeerURLs(url).build();
  }

  private MemberListResponse localList() {
    return client.call(Api.MEMBER_LIST, MemberListRequest.getDefaultInstance());
  }

  @Test
  @Order(1)
  void singleMemberMayGrowToTwo_M5() {
    STORE.needsFreshStore();
    client.put("before", "1");
    MemberAddResponse added = client.call(Api.MEMBER_ADD, voter("http://127.0.0.1:19998"));
    assertThat(added.getMembersList()).hasSize(2);
    assertThat(added.getMember().getIsLearner()).isFalse();
  }

  @Test
  @Order(2)
  void serializableMemberListNeedsNoQuorum_M9() {
    STORE.needsFreshStore();
    assertThat(localList().getMembersList()).hasSize(2).allMatch(member -> !member.getIsLearner());
    assertThat(
            client
                .call(
                    Api.RANGE,
                    RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("before"))
                        .setSerializable(true)
                        .build())
                .getCount())
        .as("R8")
        .isEqualTo(1);
  }

  @Test
  @Order(3)
  void nextVoterNeedsStartedQuorum_M5_M11() {
    STORE.needsFreshStore();
    client.refused(
        Api.MEMBER_ADD,
        voter("http://127.0.0.1:19997"),
        Code.UNKNOWN,
        "etcdserver: re-configuration failed due to not enough started members");
  }

  /** The leader notices the missing replies within an election timeout. */
  private void awaitLeaderLoss() {
    STORE.needsFreshStore();
    ServedStore.await()
        .untilAsserted(
            () ->
                assertThat(client.call(Api.STATUS, StatusRequest.getDefaultInstance()).getLeader())
                    .isZero());
  }

  @Test
  @Order(4)
  void statusReportsMissingLeader_MT1() {
    awaitLeaderLoss();
    assertThat(client.call(Api.STATUS, StatusRequest.getDefaultInstance()).getErrorsList())
        .containsExactly("etcdserver: no leader");
  }

  @Test
  @Order(5)
  void onlyLeaderMovesLeadership_MT10() {
    awaitLeaderLoss();
    client.refused(
        Api.MOVE_LEADER,
        MoveLeaderRequest.newBuilder().setTargetID(1).build(),
        Code.FAILED_PRECONDITION,
        "etcdserver: not leader");
  }

  @Test
  @Order(6)
  void linearizableReadTimesOutWithoutQuorum_G12() {
    awaitLeaderLoss();
    client.refused(
        Api.MEMBER_LIST,
        MemberListRequest.newBuilder().setLinearizable(true).build(),
        Code.UNAVAILABLE,
        "etcdserver: request timed out");
  }

  @Test
  @Order(7)
  void writeWaitsForLeaderUntilRequestTimeout_P9() {
    awaitLeaderLoss();
    client.refused(
        Api.PUT, put("after", "1").build(), Code.DEADLINE_EXCEEDED, "context deadline exceeded");
  }

  @Test
  @Order(8)
  void requireLeaderIsRefusedImmediately_T5() {
    awaitLeaderLoss();
    Metadata hasLeader = new Metadata();
    hasLeader.put(Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER), "true");
    assertThatThrownBy(
            () -> client.call(Api.MEMBER_LIST, MemberListRequest.getDefaultInstance(), hasLeader))
        .hasMessage("UNAVAILABLE: etcdserver: no leader");
  }

  /** Longer than the request timeout: only the deadline of the client applies. */
  @Test
  @Order(9)
  void membershipChangeWaitsForClientDeadline_M13() {
    awaitLeaderLoss();
    long other =
        localList().getMembersList().stream()
            .filter(member -> member.getName().isEmpty())
            .findFirst()
            .orElseThrow()
            .getID();
    long started = System.nanoTime();
    assertThatThrownBy(
            () ->
                ClientCalls.blockingUnaryCall(
                    client.channel(),
                    Api.MEMBER_REMOVE,
                    CallOptions.DEFAULT.withDeadlineAfter(7, TimeUnit.SECONDS),
                    MemberRemoveRequest.newBuilder().setID(other).build()))
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> assertThat(e.getStatus().getCode()).isEqualTo(Code.DEADLINE_EXCEEDED));
    assertThat(Duration.ofNanos(System.nanoTime() - started)).isGreaterThan(Duration.ofSeconds(6));
    assertThat(localList().getMembersList()).hasSize(2);
  }
}
