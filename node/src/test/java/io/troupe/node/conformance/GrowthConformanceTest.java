package io.troupe.node.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.Status.Code;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.RangeRequest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A cluster of one grows to two, and the second member never starts: the quorum is lost for good, so
 * the order of these tests matters.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class GrowthConformanceTest {
  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create()
          .with("heartbeat-interval", "20 ms")
          .with("election-timeout", "100 ms");

  private final ApiClient client = STORE.client();

  private static MemberAddRequest voter(String url) {
    return MemberAddRequest.newBuilder().addPeerURLs(url).build();
  }

  private MemberListResponse localList() {
    return client.call(Api.MEMBER_LIST, MemberListRequest.getDefaultInstance());
  }

  @Test
  @Order(1)
  void M5_oneMayGrowToTwo() {
    STORE.needsFreshStore();
    client.put("before", "1");
    MemberAddResponse added = client.call(Api.MEMBER_ADD, voter("http://127.0.0.1:19998"));
    assertThat(added.getMembersList()).hasSize(2);
    assertThat(added.getMember().getIsLearner()).isFalse();
  }

  @Test
  @Order(2)
  void M9_theLocalListNeedsNoQuorum() {
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
  void M5_M11_theNextVoterNeedsAStartedQuorum() {
    STORE.needsFreshStore();
    client.refused(
        Api.MEMBER_ADD,
        voter("http://127.0.0.1:19997"),
        Code.UNKNOWN,
        "etcdserver: re-configuration failed due to not enough started members");
  }

  @Test
  @Order(4)
  void G12_aLinearizableReadTimesOutWithoutQuorum() {
    STORE.needsFreshStore();
    client.refused(
        Api.MEMBER_LIST,
        MemberListRequest.newBuilder().setLinearizable(true).build(),
        Code.UNAVAILABLE,
        "etcdserver: request timed out");
  }
}
