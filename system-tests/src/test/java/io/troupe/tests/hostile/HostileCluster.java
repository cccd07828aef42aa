package io.troupe.tests.hostile;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.ManagedChannel;
import io.troupe.testing.FreePort;
import io.troupe.tests.malformed.TlsSide;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.ProcessResources;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Members as separate processes, the targets of attacks. */
final class HostileCluster implements AutoCloseable {
  private final List<NodeProcess> members = new ArrayList<>();
  private final List<Target> targets = new ArrayList<>();
  private final List<HttpClient> clients = new ArrayList<>();

  private HostileCluster() {}

  /**
   * Starts members and waits until they serve.
   *
   * @param size 1 or more
   * @param heap as in {@code -Xmx}
   * @param secure whether the client ports have TLS; clients need no certificate
   */
  static HostileCluster start(Path directory, int size, String heap, boolean secure)
      throws Exception {
    HostileCluster cluster = new HostileCluster();
    TlsSide tls = secure ? new TlsSide(directory) : null;
    List<String> urls = new ArrayList<>();
    StringBuilder initial = new StringBuilder();
    for (int i = 0; i < size; i++) {
      urls.add("http://127.0.0.1:" + FreePort.next());
      initial.append(i == 0 ? "" : ",").append("n").append(i).append('=').append(urls.get(i));
    }
    for (int i = 0; i < size; i++) {
      Target target = Target.of(FreePort.next(), tls);
      cluster.targets.add(target);
      cluster.clients.add(target.http());
      cluster.members.add(
          NodeProcess.member(
                  TestJdks.running(),
                  directory.resolve("n" + i),
                  "-Xmx" + heap,
                  "-XX:+ExitOnOutOfMemoryError")
              .named("n" + i)
              .setting("name", "n" + i)
              .setting("initial-cluster", initial.toString())
              .setting("listen-peer-urls", urls.get(i))
              .setting("initial-advertise-peer-urls", urls.get(i))
              .setting("listen-client-urls", target.uri("").toString())
              .setting("advertise-client-urls", target.uri("").toString())
              .settings(tls == null ? Map.of() : tls.serverSettings())
              .start());
    }
    cluster.members.forEach(NodeProcess::awaitReady);
    return cluster;
  }

  List<NodeProcess> members() {
    return members;
  }

  NodeProcess member(int i) {
    return members.get(i);
  }

  /** The client port of a member. */
  Target target(int i) {
    return targets.get(i);
  }

  void put(String key, int bytes) {
    ManagedChannel channel = target(0).channel();
    try {
      KVGrpc.newBlockingStub(channel)
          .withDeadlineAfter(30, TimeUnit.SECONDS)
          .put(
              PutRequest.newBuilder()
                  .setKey(ByteString.copyFromUtf8(key))
                  .setValue(ByteString.copyFrom(new byte[bytes]))
                  .build());
    } finally {
      channel.shutdownNow();
    }
  }

  /** A metric of a member. */
  double metric(int member, String name) throws IOException, InterruptedException {
    String shown =
        clients
            .get(member)
            .send(
                HttpRequest.newBuilder(target(member).uri("/metrics"))
                    .timeout(Duration.ofSeconds(20))
                    .build(),
                BodyHandlers.ofString())
            .body();
    return shown
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no " + name + " in " + shown));
  }

  /** Threads of a member; the maximum if it does not respond. */
  double threads(int member) {
    try {
      return metric(member, "jvm_threads_current");
    } catch (IOException refused) {
      return Double.MAX_VALUE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The resources of a member after a full collection. */
  ProcessResources resources(int member) {
    return ProcessResources.of(TestJdks.running(), members.get(member).pid());
  }

  /** The classes that use most of the heap of a member. */
  String largestClasses(int member) {
    return ProcessResources.largest(TestJdks.running(), members.get(member).pid());
  }

  @Override
  public void close() {
    members.forEach(NodeProcess::close);
  }
}
