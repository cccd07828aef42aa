package io.troupe.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Identities as in etcd (8.3). */
class MemberIdsTest {
  private static List<NodeId> members(String token, String... urls) {
    return List.of(urls).stream().map(url -> MemberIds.initial(List.of(url), token)).toList();
  }

  @Test
  void idsOfOneMemberEqualEtcd_ID3() {
    List<NodeId> members = members("etcd-cluster", "http://localhost:2380");
    assertThat(members).hasToString("[8e9e05c52164694d]");
    assertThat(Long.toHexString(MemberIds.cluster(members))).isEqualTo("cdf818194e3a8c32");
  }

  @Test
  void idsOfThreeMembersDoNotDependOnOrder_ID3() {
    List<NodeId> members =
        members(
            "etcd-cluster-1",
            "http://127.0.0.1:32380",
            "http://127.0.0.1:12380",
            "http://127.0.0.1:22380");
    assertThat(members.stream().sorted().toList())
        .hasToString("[8211f1d0f64f3269, 91bc3c398fb3c146, fd422379fda50e48]");
    assertThat(Long.toHexString(MemberIds.cluster(members))).isEqualTo("ef37ad9dc622a7c4");
  }

  @Test
  void memberIdDoesNotDependOnUrlOrder_ID1() {
    assertThat(MemberIds.initial(List.of("http://b:1", "http://a:1"), "t"))
        .isEqualTo(MemberIds.initial(List.of("http://a:1", "http://b:1"), "t"));
  }

  @Test
  void addedMemberIdUsesTimeInPlaceOfToken_ID1_M2() {
    List<String> urls = List.of("http://a:1");
    assertThat(MemberIds.added(urls, 1_700_000_000L))
        .isEqualTo(MemberIds.initial(urls, "1700000000"))
        .isNotEqualTo(MemberIds.added(urls, 1_700_000_001L));
  }
}
