package io.troupe.node.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.protocol.PeerReply;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A member that still responds must not be removed from the cluster. */
class ForceNewClusterCheckTest {
  private static final long CLUSTER = 9;
  private static final Map<NodeId, List<String>> OTHERS =
      Map.of(
          new NodeId(2),
          List.of("http://b:2", "http://b:1"),
          new NodeId(3),
          List.of("http://c:1"),
          new NodeId(4),
          List.of());

  private final Map<String, PeerReply> answers = new HashMap<>();
  private final List<String> asked = new ArrayList<>();
  private final Path root;

  ForceNewClusterCheckTest(@TempDir Path temp) {
    this.root = temp.resolve("data");
  }

  private void look() {
    try (DataDir dir = DataDir.open(root)) {
      if (dir.identity() == null) {
        dir.bootstrap(
            new MemberIdentity(CLUSTER, new NodeId(1), "n", List.of("http://a:1"), "test"));
      }
      new ForceNewClusterCheck(
              dir,
              (url, query, timeout) -> {
                asked.add(url);
                PeerReply answer = answers.get(url);
                return answer == null
                    ? CompletableFuture.failedFuture(new TimeoutException("down"))
                    : CompletableFuture.completedFuture(answer);
              },
              Duration.ofSeconds(1))
          .requireNotRunning(OTHERS);
    }
  }

  @Test
  void unresponsiveMembersAllowForceNewCluster() {
    assertThatCode(this::look).doesNotThrowAnyException();
    assertThat(asked).containsExactlyInAnyOrder("http://b:1", "http://b:2", "http://c:1");
  }

  @Test
  void respondingMemberPreventsForceNewCluster() {
    answers.put("http://c:1", new PeerReply.Members(CLUSTER, List.of()));
    assertThatThrownBy(this::look)
        .isInstanceOfSatisfying(
            StartException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.CONFIGURATION))
        .hasMessageContaining("member 3 at [http://c:1] is running");
    answers.put("http://c:1", new PeerReply.Refused(Refusal.NO_LEADER));
    assertThatThrownBy(this::look).as("it is starting").hasMessageContaining("member 3");
  }

  @Test
  void memberOfAnotherClusterAtAddressIsIgnored() {
    answers.put("http://c:1", new PeerReply.Members(CLUSTER + 1, List.of()));
    assertThatCode(this::look).doesNotThrowAnyException();
  }
}
