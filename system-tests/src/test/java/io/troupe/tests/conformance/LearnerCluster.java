package io.troupe.tests.conformance;

import com.typesafe.config.Config;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import io.troupe.testing.FreePort;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Member 0 in this JVM, which learner 1 joins. */
final class LearnerCluster implements AutoCloseable {
  private final int[] peers = {FreePort.next(), FreePort.next()};
  private final int[] clients = {FreePort.next(), FreePort.next()};
  private final Path directory;
  private final String alone = "n0=" + url(peers[0]);
  private final List<AutoCloseable> opened = new ArrayList<>();

  /** Starts the first member, which truncates its log early, and waits until it serves. */
  LearnerCluster(Path directory) throws InterruptedException {
    this.directory = directory;
    start(0, alone, "new");
  }

  private static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  private void start(int number, String cluster, String state) throws InterruptedException {
    Config config =
        TestConfig.of(
            Map.of(
                "troupe.name",
                "n" + number,
                "troupe.data-dir",
                directory.resolve("n" + number).toString(),
                "troupe.listen-client-urls",
                url(clients[number]),
                "troupe.listen-peer-urls",
                url(peers[number]),
                "troupe.initial-advertise-peer-urls",
                url(peers[number]),
                "troupe.initial-cluster",
                cluster,
                "troupe.initial-cluster-state",
                state,
                "troupe.snapshot-count",
                "10"));
    RunningNode node = RunningNode.start(config, failure -> {});
    opened.add(0, node);
    node.awaitReady();
  }

  /** Closed with this cluster. */
  ApiClient client(int number) {
    ApiClient client = new ApiClient("127.0.0.1:" + clients[number]);
    opened.add(0, client);
    return client;
  }

  Http1 http(int number) {
    return new Http1("127.0.0.1:" + clients[number]);
  }

  /** Adds a learner and returns the ID of the member that starts next. */
  long addLearner(ApiClient client) {
    MemberAddRequest request =
        MemberAddRequest.newBuilder().addPeerURLs(url(peers[1])).setIsLearner(true).build();
    return client.call(Api.MEMBER_ADD, request).getMember().getID();
  }

  /** Waits until it serves. */
  void startLearner() throws InterruptedException {
    start(1, alone + ",n1=" + url(peers[1]), "existing");
  }

  @Override
  public void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }
}
