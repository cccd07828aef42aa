package io.troupe.node.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.protocol.MemberIds;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.PeerReply.KnownMember;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Identity of a member without data (section 8.3, B2, B3, F9). */
class BootstrapTest {
  private static final String THREE =
      "infra1=http://127.0.0.1:12380,infra2=http://127.0.0.1:22380,infra3=http://127.0.0.1:32380";
  private static final String OWN = "http://127.0.0.1:12380";

  private final Map<String, PeerReply> answers = new HashMap<>();
  private final List<String> asked = new ArrayList<>();
  private Runnable whenAsked = () -> {};
  private final PeerQueries peers =
      (url, query, timeout) -> {
        assertThat(query)
            .isIn(
                PeerQuery.MembersQuery.INSTANCE,
                new PeerQuery.JoinQuery(EtcdVersion.parse("3.7.1")));
        asked.add(url);
        whenAsked.run();
        PeerReply answer = answers.get(url);
        return answer == null
            ? CompletableFuture.failedFuture(new TimeoutException("down"))
            : CompletableFuture.completedFuture(answer);
      };

  private static NodeSettings settings(String... keysAndValues) {
    Config config = ConfigFactory.empty();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      config =
          ConfigFactory.parseString("troupe." + keysAndValues[i] + " = " + keysAndValues[i + 1])
              .withFallback(config);
    }
    return NodeSettings.of(
        config
            .withFallback(ConfigFactory.parseResources("troupe-defaults.conf"))
            .withFallback(ConfigFactory.defaultReferenceUnresolved())
            .resolve());
  }

  private static NodeSettings infra1(String state, String cluster) {
    return settings(
        "name",
        "infra1",
        "initial-advertise-peer-urls",
        "[\"" + OWN + "\"]",
        "initial-cluster-token",
        "etcd-cluster-1",
        "initial-cluster-state",
        state,
        "initial-cluster",
        "\"" + cluster + "\"");
  }

  private MemberIdentity identity(NodeSettings settings) throws InterruptedException {
    return identity(settings, Duration.ZERO);
  }

  private MemberIdentity identity(NodeSettings settings, Duration timeout)
      throws InterruptedException {
    return new Bootstrap(
            settings, InitialCluster.of(settings), peers, Duration.ofSeconds(1), timeout)
        .identity();
  }

  private void refused(NodeSettings settings, ExitCode code, String text) {
    assertThatThrownBy(() -> identity(settings))
        .isInstanceOfSatisfying(StartException.class, e -> assertThat(e.exitCode()).isEqualTo(code))
        .hasMessageContaining(text);
  }

  private static KnownMember member(long id, String name, String... urls) {
    return new KnownMember(
        new NodeId(id),
        name,
        List.of(urls),
        name.isEmpty() ? List.of() : List.of("http://c:1"),
        false);
  }

  /**
   * The reply may be late on a busy machine; without it a member that lost its data would restart.
   */
  @Test
  void listeningPeerIsQueriedUntilItReplies_B3() throws Exception {
    try (ServerSocket slow = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = "http://127.0.0.1:" + slow.getLocalPort();
      NodeSettings settings =
          infra1("new", "infra1=" + OWN + ",infra2=" + url + ",infra3=http://127.0.0.1:1");
      long self = MemberIds.initial(List.of(OWN), "etcd-cluster-1").value();
      whenAsked =
          () -> {
            if (asked.stream().filter(url::equals).count() == 3) {
              answers.put(url, new PeerReply.Members(1, List.of(member(self, "infra1", OWN))));
            }
          };
      refused(settings, ExitCode.CONFIGURATION, "has already been bootstrapped");
      assertThat(asked).as("nothing listens there").containsOnlyOnce("http://127.0.0.1:1");
    }
  }

  @Test
  void singleMemberWithDefaults_ID3() throws InterruptedException {
    MemberIdentity identity = identity(settings());
    assertThat(identity.memberId()).hasToString("8e9e05c52164694d");
    assertThat(Long.toHexString(identity.clusterId())).isEqualTo("cdf818194e3a8c32");
    assertThat(identity.members())
        .isEqualTo(Map.of(identity.memberId(), List.of("http://localhost:2380")));
    assertThat(asked).isEmpty();
  }

  @Test
  void threeMembers_ID3() throws InterruptedException {
    MemberIdentity identity = identity(infra1("new", THREE));
    assertThat(Long.toHexString(identity.clusterId())).isEqualTo("ef37ad9dc622a7c4");
    assertThat(identity.joins()).isFalse();
    assertThat(identity.members().keySet())
        .hasToString("[8211f1d0f64f3269, 91bc3c398fb3c146, fd422379fda50e48]");
    assertThat(identity.members().get(identity.memberId())).containsExactly(OWN);
  }

  @Test
  void listMeansSameAsText() {
    NodeSettings list =
        settings(
            "name",
            "b",
            "initial-advertise-peer-urls",
            "[\"http://b:2\", \"http://b:1\"]",
            "initial-cluster",
            "[\"a=http://a:1\", \"b=http://b:1\", \"b=http://b:2\"]");
    NodeSettings text =
        settings(
            "name",
            "b",
            "initial-advertise-peer-urls",
            "\"http://b:2,http://b:1\"",
            "initial-cluster",
            "\"a=http://a:1,b=http://b:1,b=http://b:2\"");
    assertThat(list.initialCluster())
        .isEqualTo(text.initialCluster())
        .isEqualTo(Map.of("a", List.of("http://a:1"), "b", List.of("http://b:1", "http://b:2")));
    assertThat(InitialCluster.of(list)).isEqualTo(InitialCluster.of(text));
    assertThat(InitialCluster.of(list).others()).containsExactly(List.of("http://a:1"));
  }

  @Test
  void initialClusterContainsThisMemberWithItsUrls_F9() {
    refused(
        infra1("new", "other=" + OWN),
        ExitCode.CONFIGURATION,
        "expected an entry for this member's name \"infra1\"");
    refused(
        infra1("new", "infra1=http://127.0.0.1:1"),
        ExitCode.CONFIGURATION,
        "the URLs of troupe.initial-advertise-peer-urls [" + OWN + "]");
    refused(
        infra1("existing", "infra1=" + OWN + ",infra1=http://127.0.0.1:1"),
        ExitCode.CONFIGURATION,
        "the URLs of troupe.initial-advertise-peer-urls");
  }

  @Test
  void malformedInitialClustersAreRejected() {
    for (String wrong :
        List.of("infra1", "=" + OWN, "infra1=", "infra1=" + OWN + ",b=x", "infra1=http://h")) {
      assertThatThrownBy(() -> infra1("new", wrong))
          .as(wrong)
          .isInstanceOf(StartException.class)
          .hasMessageStartingWith("configuration: troupe.initial-cluster = ");
    }
    assertThatThrownBy(() -> infra1("new", "infra1=" + OWN + ",b=" + OWN))
        .hasMessageContaining("each URL once");
  }

  @Test
  void limitsOfMembershipChangesAreChecked() {
    assertThatThrownBy(() -> settings("max-learners", "-1"))
        .hasMessageContaining("troupe.max-learners");
    assertThatThrownBy(() -> settings("strict-reconfig-check", "maybe"))
        .hasMessageContaining("expected true or false");
  }

  @Test
  void restartedMemberDoesNotBootstrapAgain_B3() throws InterruptedException {
    NodeId self = identity(infra1("new", THREE)).memberId();
    KnownMember started = member(self.value(), "infra1", OWN);
    answers.put("http://127.0.0.1:32380", new PeerReply.Members(5, List.of(started)));
    refused(
        infra1("new", THREE),
        ExitCode.CONFIGURATION,
        "member " + self + " has already been bootstrapped");
    KnownMember expected = member(self.value(), "", OWN);
    answers.put("http://127.0.0.1:32380", new PeerReply.Members(5, List.of(expected)));
    assertThat(identity(infra1("new", THREE)).memberId()).isEqualTo(self);
  }

  @Test
  void joiningMemberTakesItsIdFromClusterByPeerUrls_B2() throws InterruptedException {
    answers.put("http://127.0.0.1:22380", new PeerReply.Refused(Refusal.STOPPED));
    answers.put(
        "http://127.0.0.1:32380",
        new PeerReply.Members(
            0xabcL,
            List.of(
                member(7, "", OWN),
                member(8, "infra2", "http://127.0.0.1:22380"),
                member(9, "renamed", "http://127.0.0.1:32380"))));
    MemberIdentity identity = identity(infra1("existing", THREE));
    assertThat(identity.clusterId()).isEqualTo(0xabcL);
    assertThat(identity.memberId()).isEqualTo(new NodeId(7));
    assertThat(identity.joins()).isTrue();
    assertThat(identity.members())
        .isEqualTo(
            Map.of(
                new NodeId(7),
                List.of(OWN),
                new NodeId(8),
                List.of("http://127.0.0.1:22380"),
                new NodeId(9),
                List.of("http://127.0.0.1:32380")));
    assertThat(asked).containsExactly("http://127.0.0.1:22380", "http://127.0.0.1:32380");
  }

  @Test
  void joinIsRefusedWhenMembersDiffer_B2() {
    answers.put(
        "http://127.0.0.1:22380",
        new PeerReply.Members(
            5, List.of(member(7, "", OWN), member(8, "x", "http://127.0.0.1:22380"))));
    refused(infra1("existing", THREE), ExitCode.CONFIGURATION, "member count is unequal");
    answers.put(
        "http://127.0.0.1:22380",
        new PeerReply.Members(
            5,
            List.of(
                member(7, "", OWN),
                member(8, "x", "http://127.0.0.1:22380"),
                member(9, "y", "http://127.0.0.1:9"))));
    refused(
        infra1("existing", THREE),
        ExitCode.CONFIGURATION,
        "PeerURLs: no match found for existing member (9, [http://127.0.0.1:9])");
  }

  @Test
  void joinWithoutReplyCanBeRetried_B2() {
    refused(
        infra1("existing", THREE),
        ExitCode.UNEXPECTED,
        "could not retrieve cluster information from the given URLs");
    refused(infra1("existing", "infra1=" + OWN), ExitCode.UNEXPECTED, "cannot fetch cluster info");
  }

  /** A member of a cluster that has {@code version} refuses, or lets this member decide. */
  @Test
  void joinOfIncompatibleProgramIsRefused_V2() {
    EtcdVersion newer = EtcdVersion.parse("3.8.0");
    ClusterVersions versions = new ClusterVersions(newer, newer, null);
    answers.put(
        "http://127.0.0.1:22380",
        new PeerReply.Members(0xabcL, ((PeerReply.Members) after()).members(), versions));
    answers.put("http://127.0.0.1:32380", new PeerReply.Refused(Refusal.NO_LEADER));
    refused(
        infra1("existing", THREE),
        ExitCode.VERSION,
        "the joining program serves 3.7.1, the cluster has version 3.8");
    answers.put(
        "http://127.0.0.1:22380",
        new PeerReply.Refused(Refusal.INCOMPATIBLE_VERSION, "text of the member"));
    refused(infra1("existing", THREE), ExitCode.VERSION, "text of the member");
  }

  /** The state of a member that has not applied the addition of this member yet. */
  private static PeerReply before() {
    return new PeerReply.Members(
        0xabcL,
        List.of(
            member(8, "infra2", "http://127.0.0.1:22380"),
            member(9, "infra3", "http://127.0.0.1:32380")));
  }

  private static PeerReply after() {
    return new PeerReply.Members(
        0xabcL,
        List.of(
            member(7, "", OWN),
            member(8, "infra2", "http://127.0.0.1:22380"),
            member(9, "infra3", "http://127.0.0.1:32380")));
  }

  @Test
  void laggingMemberDoesNotPreventJoin_B2() throws InterruptedException {
    answers.put("http://127.0.0.1:22380", before());
    answers.put("http://127.0.0.1:32380", after());
    assertThat(identity(infra1("existing", THREE)).memberId()).isEqualTo(new NodeId(7));
  }

  @Test
  void joinQueriesAreRepeatedUntilMemberKnowsNewMember_B2() throws InterruptedException {
    answers.put("http://127.0.0.1:22380", before());
    whenAsked =
        () -> {
          if (asked.size() > 4) {
            answers.put("http://127.0.0.1:32380", after());
          }
        };
    assertThat(identity(infra1("existing", THREE), Duration.ofMinutes(1)).memberId())
        .isEqualTo(new NodeId(7));
    assertThat(asked).hasSize(6);
  }

  @Test
  void joinFailsImmediatelyWhenAllMembersRefuse_B2() {
    answers.put("http://127.0.0.1:22380", before());
    answers.put("http://127.0.0.1:32380", before());
    assertThatThrownBy(() -> identity(infra1("existing", THREE), Duration.ofMinutes(1)))
        .hasMessageContaining("member count is unequal");
    assertThat(asked).hasSize(2);
  }

  /** Any error except a timeout: the query of B3 was not sent, so nothing may be created. */
  @Test
  void nothingIsCreatedWithoutPeerQueries_B3() {
    PeerQueries broken =
        (url, query, timeout) ->
            CompletableFuture.failedFuture(new IllegalStateException("the start failed"));
    NodeSettings settings = infra1("new", THREE);
    Bootstrap bootstrap =
        new Bootstrap(
            settings,
            InitialCluster.of(settings),
            broken,
            Duration.ofSeconds(1),
            Duration.ofSeconds(1));
    assertThatThrownBy(bootstrap::identity)
        .isInstanceOf(StartException.class)
        .hasMessageContaining("cannot query the other members");
  }

  @Test
  void peersAreQueriedAtAllTheirAddresses() {
    NodeSettings settings =
        settings(
            "name",
            "b",
            "initial-advertise-peer-urls",
            "\"http://b:1\"",
            "initial-cluster",
            "\"a=http://a:9,b=http://b:1,a=http://a:1\"");
    assertThat(InitialCluster.of(settings).others())
        .containsExactly(List.of("http://a:1", "http://a:9"));
  }
}
