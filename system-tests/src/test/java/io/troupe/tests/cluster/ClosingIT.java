package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.process.Alone;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** B5: a leader that is stopped with SIGTERM transfers its leadership first. */
@Alone
@Tag("full")
@HeapIndependent
class ClosingIT {
  /** An election after a leader failure takes at least this long; a faster change is a transfer. */
  private static final Duration ELECTION = Duration.ofSeconds(6);

  private ProcessCluster cluster = new ProcessCluster(Path.of(""));

  @BeforeEach
  void start() throws IOException {
    cluster = new ProcessCluster(Files.createTempDirectory(Path.of("target"), "closing-"));
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  /** From the first to the last log line of the shutdown. */
  private static Duration stopTime(NodeProcess ended) {
    List<String> lines = ended.err().lines().toList();
    String begin =
        lines.stream().filter(l -> l.endsWith(" stopping cause=signal")).findFirst().orElseThrow();
    String end = lines.stream().filter(l -> l.endsWith(" stopped")).findFirst().orElseThrow();
    return Duration.between(time(begin), time(end));
  }

  private static OffsetDateTime time(String line) {
    return OffsetDateTime.parse(line.substring(0, line.indexOf(' ')));
  }

  @Test
  void leadershipIsTransferredWithoutElectionTimeout_B5() {
    cluster.setting("election-timeout", ELECTION.toSeconds() + " s");
    cluster.startNew("n1", "n2", "n3");
    String leader = cluster.awaitLeader();
    NodeProcess ending = cluster.process(leader);
    long told = System.nanoTime();
    assertThat(ending.stop()).isEqualTo(143);
    // A member that starts long before the others warns that it waits for them.
    String stopping = ending.err().substring(ending.err().indexOf(" stopping cause=signal"));
    assertThat(stopping).contains("transferred the leadership").doesNotContain(" WARN ");
    assertThat(stopTime(ending)).isLessThan(Duration.ofSeconds(2));
    String other = cluster.running().get(0);
    cluster.run(other, "put", "k", "v");
    assertThat(Duration.ofNanos(System.nanoTime() - told)).isLessThan(ELECTION);
    // The former leader returns as a follower.
    cluster.restart(leader).awaitReady();
    cluster.awaitKey(leader, "k", "v");
  }

  @Test
  void leaderStopsWithoutTransferTarget_B5() {
    cluster.startNew("n1", "n2", "n3");
    String leader = cluster.awaitLeader();
    List<String> others = cluster.running().stream().filter(name -> !name.equals(leader)).toList();
    others.forEach(name -> cluster.process(name).pause());
    NodeProcess ending = cluster.process(leader);
    assertThat(ending.stop()).isEqualTo(143);
    assertThat(stopTime(ending)).isLessThan(Duration.ofSeconds(2));
    others.forEach(name -> cluster.process(name).resume());
    cluster.runInTheEnd(others.get(0), "put", "k", "v");
  }
}
