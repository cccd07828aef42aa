package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.MemberPromoteRequest;
import io.troupe.grpc.api.MemberRemoveRequest;
import io.troupe.grpc.api.MemberRemoveResponse;
import io.troupe.grpc.api.MemberUpdateRequest;
import io.troupe.grpc.api.MemberUpdateResponse;
import io.troupe.grpc.api.MoveLeaderRequest;
import io.troupe.grpc.api.StatusRequest;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Section 2.11 for a single member: a learner that never starts needs no quorum. {@link
 * GrowthConformanceTest} covers a quorum of two.
 */
class MembershipConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final AtomicInteger PORT = new AtomicInteger(20000);
  private static final long UNKNOWN = 12345;
  private static final String INVALID = "etcdserver: given member URLs are invalid";
  private static final String NOT_FOUND = "etcdserver: member not found";
  private static final String TAKEN = "etcdserver: Peer URLs already exists";

  private final ApiClient client = STORE.client();

  private static String url() {
    return "http://127.0.0.1:" + PORT.incrementAndGet();
  }

  private static MemberAddRequest learner(String... urls) {
    return MemberAddRequest.newBuilder().addAllPeerURLs(List.of(urls)).setIsLearner(true).build();
  }

  private static MemberAddRequest voter(String... urls) {
    return MemberAddRequest.newBuilder().addAllPeerURLs(List.of(urls)).build();
  }

  private static MemberRemoveRequest removal(long id) {
    return MemberRemoveRequest.newBuilder().setID(id).build();
  }

  private static MemberPromoteRequest promotion(long id) {
    return MemberPromoteRequest.newBuilder().setID(id).build();
  }

  private static MemberUpdateRequest update(long id, String... urls) {
    return MemberUpdateRequest.newBuilder().setID(id).addAllPeerURLs(List.of(urls)).build();
  }

  private static MoveLeaderRequest move(long to) {
    return MoveLeaderRequest.newBuilder().setTargetID(to).build();
  }

  private List<Member> members() {
    return client
        .call(Api.MEMBER_LIST, MemberListRequest.newBuilder().setLinearizable(true).build())
        .getMembersList();
  }

  private long self() {
    return client.call(Api.STATUS, StatusRequest.getDefaultInstance()).getHeader().getMemberId();
  }

  private Member own() {
    long self = self();
    return members().stream().filter(member -> member.getID() == self).findFirst().orElseThrow();
  }

  @AfterEach
  void onlyOneIsLeft() {
    long self = self();
    for (Member member : members()) {
      if (member.getID() != self) {
        client.call(Api.MEMBER_REMOVE, removal(member.getID()));
      }
    }
  }

  @Test
  void memberAddChecksUrlSyntax_M1() {
    for (String bad :
        List.of(
            "",
            "127.0.0.1:2380",
            "ftp://127.0.0.1:2380",
            "http://127.0.0.1",
            "http://127.0.0.1:2380/",
            "http://127.0.0.1:2380/path")) {
      client.refused(Api.MEMBER_ADD, voter(url(), bad), Code.INVALID_ARGUMENT, INVALID);
    }
    client.refused(Api.MEMBER_ADD, voter(), Code.INVALID_ARGUMENT, INVALID);
    assertThat(members()).hasSize(1);
  }

  @Test
  void urlBelongsToOneMember_M1() {
    String taken = own().getPeerURLs(0);
    client.refused(Api.MEMBER_ADD, learner(taken), Code.FAILED_PRECONDITION, TAKEN);
    client.refused(Api.MEMBER_ADD, voter(url(), taken), Code.FAILED_PRECONDITION, TAKEN);
  }

  @Test
  void responseListsNewMemberAndAllMembers_M1_M3() {
    String first = "http://127.0.0.1:19999";
    String second = url();
    MemberAddResponse added = client.call(Api.MEMBER_ADD, learner(second, first));
    Member member = added.getMember();
    assertThat(member.getID()).isNotZero();
    assertThat(member.getPeerURLsList()).containsExactly(first, second);
    assertThat(member.getIsLearner()).isTrue();
    assertThat(member.getName()).isEmpty();
    assertThat(member.getClientURLsList()).isEmpty();
    assertThat(added.getMembersList()).hasSize(2).contains(member);
    assertThat(added.getHeader().getRevision()).as("R7").isZero();
    assertThat(added.getHeader().getMemberId()).isEqualTo(self());
    assertThat(members()).isEqualTo(added.getMembersList());
  }

  @Test
  void onlyOneLearnerIsAllowed_M4() {
    client.call(Api.MEMBER_ADD, learner(url()));
    client.refused(
        Api.MEMBER_ADD,
        learner(url()),
        Code.FAILED_PRECONDITION,
        "etcdserver: too many learner members in cluster");
  }

  @Test
  void unknownMembersAreNotRemoved_M6() {
    client.refused(Api.MEMBER_REMOVE, removal(UNKNOWN), Code.NOT_FOUND, NOT_FOUND);
    client.refused(Api.MEMBER_REMOVE, removal(0), Code.NOT_FOUND, NOT_FOUND);
  }

  @Test
  void removedMemberIsUnknown_M6() {
    long id = client.call(Api.MEMBER_ADD, learner(url())).getMember().getID();
    MemberRemoveResponse removed = client.call(Api.MEMBER_REMOVE, removal(id));
    assertThat(removed.getMembersList()).containsExactly(own());
    assertThat(removed.getHeader().getRevision()).as("R7").isZero();
    client.refused(Api.MEMBER_REMOVE, removal(id), Code.NOT_FOUND, NOT_FOUND);
    client.refused(Api.MEMBER_PROMOTE, promotion(id), Code.NOT_FOUND, NOT_FOUND);
    client.refused(Api.MEMBER_UPDATE, update(id, url()), Code.NOT_FOUND, NOT_FOUND);
  }

  @Test
  void onlyVoterCannotBeRemoved_M6_M11() {
    client.refused(
        Api.MEMBER_REMOVE,
        removal(self()),
        Code.UNKNOWN,
        "etcdserver: re-configuration failed due to not enough started members");
    client.put(STORE.key("a"), "still there");
  }

  @Test
  void updateReplacesUrls_M7() {
    long id = client.call(Api.MEMBER_ADD, learner(url())).getMember().getID();
    String moved = url();
    MemberUpdateResponse updated = client.call(Api.MEMBER_UPDATE, update(id, moved));
    assertThat(updated.getHeader().getRevision()).as("R7").isZero();
    Member member =
        updated.getMembersList().stream().filter(m -> m.getID() == id).findFirst().orElseThrow();
    assertThat(member.getPeerURLsList()).containsExactly(moved);
    client.call(Api.MEMBER_UPDATE, update(id, moved));
    client.refused(
        Api.MEMBER_UPDATE,
        update(id, url(), own().getPeerURLs(0)),
        Code.FAILED_PRECONDITION,
        TAKEN);
  }

  /** etcd 3.5 drops it from its list. */
  @Test
  void updateKeepsLearner_M7() {
    STORE.needs37();
    long id = client.call(Api.MEMBER_ADD, learner(url())).getMember().getID();
    client.call(Api.MEMBER_UPDATE, update(id, url()));
    assertThat(members()).filteredOn(member -> member.getID() == id).allMatch(Member::getIsLearner);
  }

  /** etcd 3.5 does not check it either; its process stops when it applies the change. */
  @Test
  void memberUpdateDoesNotCheckUrlSyntax_M7() {
    STORE.needs37();
    long id = client.call(Api.MEMBER_ADD, learner(url())).getMember().getID();
    client.call(Api.MEMBER_UPDATE, update(id, "no url"));
  }

  @Test
  void invalidPromotionsAreRefused_M8() {
    client.refused(Api.MEMBER_PROMOTE, promotion(UNKNOWN), Code.NOT_FOUND, NOT_FOUND);
    client.refused(
        Api.MEMBER_PROMOTE,
        promotion(self()),
        Code.FAILED_PRECONDITION,
        "etcdserver: can only promote a learner member");
    long learner = client.call(Api.MEMBER_ADD, learner(url())).getMember().getID();
    client.refused(
        Api.MEMBER_PROMOTE,
        promotion(learner),
        Code.FAILED_PRECONDITION,
        "etcdserver: can only promote a learner member which is in sync with leader");
  }

  @Test
  void membersAreSortedById_M9() {
    client.call(Api.MEMBER_ADD, learner(url()));
    for (boolean linearizable : new boolean[] {true, false}) {
      MemberListResponse list =
          client.call(
              Api.MEMBER_LIST,
              MemberListRequest.newBuilder().setLinearizable(linearizable).build());
      assertThat(list.getMembersList())
          .hasSize(2)
          .extracting(Member::getID)
          .isSortedAccordingTo(Comparator.comparingLong(id -> id + Long.MIN_VALUE));
      assertThat(list.getHeader().getRevision()).as("R7").isZero();
    }
  }

  @Test
  void onlyVotersTakeLeadership_M12_MT10() {
    String bad = "etcdserver: bad leader transferee";
    client.refused(Api.MOVE_LEADER, move(UNKNOWN), Code.FAILED_PRECONDITION, bad);
    long learner = client.call(Api.MEMBER_ADD, learner(url())).getMember().getID();
    client.refused(Api.MOVE_LEADER, move(learner), Code.FAILED_PRECONDITION, bad);
    assertThat(client.call(Api.MOVE_LEADER, move(self())).hasHeader()).as("R7").isFalse();
  }

  @Test
  void membershipChangesKeepRevision_R3() {
    long before = client.revision();
    client.call(Api.MEMBER_ADD, learner(url()));
    assertThat(client.revision()).isEqualTo(before);
  }

  @Test
  void statusOfVoterIsNotLearner_MT1() {
    assertThat(client.call(Api.STATUS, StatusRequest.getDefaultInstance()).getIsLearner())
        .isFalse();
  }
}
