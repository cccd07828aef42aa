package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** SN4: two of three members are lost permanently; the third continues alone. */
@Clusters
@Tag("full")
@HeapIndependent
class ForceNewClusterIT {
  private static final int KEYS = 30;
  private static final String FORCE = "-Dtroupe.force-new-cluster=";

  private final HttpClient http = HttpClient.newHttpClient();
  private ProcessCluster cluster = new ProcessCluster(Path.of(""));

  @BeforeEach
  void start() throws IOException {
    cluster = new ProcessCluster(Files.createTempDirectory(Path.of("target"), "force-"));
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private NodeProcess start(String name, boolean forced) {
    return cluster.start(name, "new", cluster.cluster("n1", "n2", "n3"), FORCE + forced);
  }

  private String clusterId(String via) {
    Matcher found =
        Pattern.compile("\"cluster_id\":([0-9]+)")
            .matcher(cluster.run(via, "member", "list", "-w", "json"));
    assertThat(found.find()).isTrue();
    return found.group(1);
  }

  private void hasAllKeys(String via) {
    String all = cluster.run(via, "get", "--prefix", "key-", "--keys-only");
    assertThat(all.lines().filter(line -> !line.isEmpty())).hasSize(KEYS);
    assertThat(cluster.run(via, "get", "--print-value-only", "key-" + (KEYS - 1)))
        .isEqualTo("value-" + (KEYS - 1) + "\n");
  }

  /** Writes more entries than lie between two comparisons of the state (256). */
  private int putMany(String via, int count) throws InterruptedException {
    int written = 0;
    for (int i = 0; i < count; i++) {
      HttpRequest put =
          HttpRequest.newBuilder(URI.create("http://" + cluster.endpoint(via) + "/v3/kv/put"))
              .timeout(Duration.ofSeconds(5))
              .POST(
                  HttpRequest.BodyPublishers.ofString(
                      "{\"key\":\"bQ==\",\"value\":\"" + via64(via, i) + "\"}"))
              .build();
      try {
        if (http.send(put, HttpResponse.BodyHandlers.discarding()).statusCode() == 200) {
          written++;
        }
      } catch (IOException unavailable) {
        return written;
      }
    }
    return written;
  }

  private static String via64(String via, int i) {
    return Base64.getEncoder().encodeToString((via + i).getBytes(StandardCharsets.UTF_8));
  }

  /** Statement C.2: members compare their state with the leader that they follow, if any. */
  @Test
  void returningFormerMembersRaiseNoAlarm() throws Exception {
    cluster.startNew("n1", "n2", "n3");
    String last = cluster.awaitFollower();
    List<String> former = cluster.running().stream().filter(n -> !n.equals(last)).toList();
    assertThat(putMany(last, 300)).isEqualTo(300);
    cluster.running().forEach(name -> cluster.process(name).kill());
    start(last, true).awaitReady();
    assertThat(putMany(last, 600)).isEqualTo(600);

    // Two members are a quorum of the membership that they know.
    former.forEach(cluster::restart);
    int ofFormer = 0;
    for (int round = 0; round < 10; round++) {
      assertThat(putMany(last, 100)).as("the new cluster serves").isEqualTo(100);
      for (String name : former) {
        if (cluster.process(name).isAlive()) {
          ofFormer += putMany(name, 100);
        }
      }
    }
    System.out.println(
        "puts that former members took=" + ofFormer + " running=" + cluster.running());
    assertThat(cluster.run(last, "alarm", "list")).isEmpty();
    for (String name : List.of("n1", "n2", "n3")) {
      assertThat(cluster.process(name).err())
          .as(name)
          .doesNotContainIgnoringCase("corrupt")
          .doesNotContain("accused");
      if (!cluster.process(name).isAlive()) {
        assertThat(cluster.process(name).awaitExit()).as(name).isZero();
      }
    }
    assertThat(cluster.process(last).isAlive()).isTrue();
  }

  @Test
  void lastMemberContinuesAlone() throws IOException {
    cluster.startNew("n1", "n2", "n3");
    String last = cluster.awaitFollower();
    List<String> lost = cluster.running().stream().filter(n -> !n.equals(last)).toList();
    String clusterId = clusterId(last);
    for (int i = 0; i < KEYS; i++) {
      cluster.run(lost.get(0), "put", "key-" + i, "value-" + i);
    }
    cluster.awaitKey(last, "key-" + (KEYS - 1), "value-" + (KEYS - 1));

    // The check refuses while the other members still have a quorum.
    cluster.process(last).kill();
    NodeProcess refused = start(last, true);
    assertThat(refused.awaitExit()).isEqualTo(2);
    assertThat(refused.err()).contains("is running", "nothing was changed", "member remove");

    lost.forEach(name -> cluster.process(name).kill());
    NodeProcess forced = start(last, true).awaitReady();
    assertThat(forced.err())
        .contains(
            "this member continues alone",
            cluster.peerUrl(lost.get(0)),
            cluster.peerUrl(lost.get(1)),
            "force-new-cluster: done");
    hasAllKeys(last);
    assertThat(cluster.members(last)).hasSize(1);
    assertThat(clusterId(last)).isEqualTo(clusterId);
    cluster.run(last, "put", "after", "1");

    // Restarts without the flag after a kill.
    forced.kill();
    start(last, false).awaitReady();
    hasAllKeys(last);
    assertThat(cluster.run(last, "get", "--print-value-only", "after")).isEqualTo("1\n");
    assertThat(cluster.members(last)).hasSize(1);

    // A lost member returns with its data; the membership does not contain it any more.
    NodeProcess former = cluster.restart(lost.get(0));
    assertThat(former.awaitExit()).isZero();
    assertThat(former.err()).contains("this member was removed from the cluster");
    cluster.run(last, "put", "after", "2");

    // A new member replaces it.
    String added = lost.get(1);
    DurableFiles.deleteTree(cluster.data(added));
    cluster.runInTheEnd(last, "member", "add", added, "--peer-urls=" + cluster.peerUrl(added));
    cluster.join(added, cluster.cluster(last, added)).awaitReady();
    cluster.run(added, "put", "both", "3");
    for (String name : List.of(last, added)) {
      cluster.awaitKey(name, "both", "3");
      cluster.awaitKey(name, "after", "2");
      hasAllKeys(name);
      assertThat(cluster.members(name)).hasSize(2);
    }
  }
}
