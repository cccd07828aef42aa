package io.troupe.node.logging;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.protocol.ClusterView;
import io.troupe.raft.membership.Membership;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TextMessageTest {
  private static final NodeId ONE = new NodeId(0xa1);
  private static final NodeId TWO = new NodeId(0xa2);

  private static ClusterView cluster(Map<NodeId, List<String>> urls, MemberAttributes... named) {
    TreeMap<NodeId, MemberAttributes> published = new TreeMap<>();
    for (MemberAttributes one : named) {
      published.put(one.member(), one);
    }
    Membership membership =
        new Membership(1, urls.keySet(), Set.of(), Set.of(), Set.of(), Set.of());
    return new ClusterView(membership, new TreeMap<>(urls), published);
  }

  @AfterEach
  void forgetNames() {
    MemberNames.update(cluster(Map.of()));
  }

  private static String text(String format, Object... arguments) {
    return TextMessage.text(format, arguments);
  }

  @Test
  void durationsAreReadable() {
    assertThat(text("saved snapshot={} took={}", 7, Duration.ofMillis(3200)))
        .isEqualTo("saved snapshot=7 took=3.2s");
    assertThat(text("took={}", Duration.ofMillis(186))).isEqualTo("took=186ms");
  }

  @Test
  void memberIdsAreFollowedByNameAndUrl() {
    MemberNames.update(
        cluster(
            Map.of(ONE, List.of("http://a:1", "http://b:1"), TWO, List.of("http://c:1")),
            new MemberAttributes(ONE, "n1", List.of())));
    assertThat(text("peer away remote-peer-id={} since={}", ONE, 5))
        .isEqualTo(
            "peer away remote-peer-id=a1 remote-peer-name=n1 remote-peer-url=http://a:1 since=5");
    assertThat(text("role leader={}", TWO))
        .isEqualTo("role leader=a2 leader-name= leader-url=http://c:1");
    assertThat(text("elected {} now", ONE)).isEqualTo("elected a1 now");
    assertThat(text("other peer-id={}", new NodeId(9))).isEqualTo("other peer-id=9");
  }

  @Test
  void missingArgumentsLeavePlaceholders() {
    assertThat(text("a={} b={}", Duration.ofSeconds(1))).isEqualTo("a=1s b={}");
    assertThat(text("a={}", Duration.ofSeconds(1), "more")).isEqualTo("a=1s");
  }
}
