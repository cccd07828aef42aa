package io.troupe.node;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.pekko.Done;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.BoundedSourceQueue;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.jspecify.annotations.Nullable;

/**
 * Runs a training load in a temporary process before that process exits and its JVM writes the
 * archive. {@link TrainingRequests} over the ports of a cluster of two members load more classes
 * than a start alone, including those for traffic between members, and show which methods requests
 * run. Only bin/node starts it (docs/decisions/0011, 0266, 0270).
 */
final class ArchiveTraining {
  private static final String PROPERTY = "io.troupe.node.training";

  /** How often each kind of request is sent. JDKs before 25 need loaded classes only. */
  private static final int ROUNDS = Runtime.version().feature() >= 25 ? 1000 : 60;

  /** Few requests share a batch, so methods that run for each batch are called often, too. */
  private static final int IN_FLIGHT = 8;

  private static final Duration LIMIT = Duration.ofSeconds(15);

  private final Config first;
  private final Config second;
  private @Nullable RunningNode secondNode;

  /**
   * Both members use free ports of the loopback interface, because the configured ports may be in
   * use.
   */
  private ArchiveTraining(Config config) {
    List<Integer> ports = freePorts();
    String one = "http://127.0.0.1:" + ports.get(0);
    String two = "http://127.0.0.1:" + ports.get(1);
    String cluster = "one=" + one + ",two=" + two;
    String dataDir = config.getString("troupe.data-dir");
    this.first = member("one", one, cluster, dataDir).withFallback(config);
    this.second = member("two", two, cluster, dataDir + "-two").withFallback(config);
  }

  /**
   * Returns the training that the configuration requests; null if this process is a regular member.
   */
  static @Nullable ArchiveTraining asked(Config config) {
    return isAsked() ? new ArchiveTraining(config) : null;
  }

  private static Config member(String name, String peerUrl, String cluster, String dataDir) {
    return ConfigFactory.parseMap(
        Map.of(
            "troupe.name", name,
            "troupe.data-dir", dataDir,
            "troupe.initial-cluster", cluster,
            "troupe.listen-peer-urls", List.of(peerUrl),
            "troupe.initial-advertise-peer-urls", List.of(peerUrl)));
  }

  private static List<Integer> freePorts() {
    try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ServerSocket two = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return List.of(one.getLocalPort(), two.getLocalPort());
    } catch (IOException e) {
      throw new UncheckedIOException("no free port", e);
    }
  }

  /** Returns the configuration of the first member, which this process runs. */
  Config config() {
    return first;
  }

  /**
   * Starts the second member. Neither member is ready before.
   *
   * @param broken as for {@link RunningNode#start}
   */
  void startSecond(Consumer<Throwable> broken) {
    secondNode = RunningNode.start(second, broken);
  }

  /** Returns true if this process only serves for training. */
  private static boolean isAsked() {
    return Boolean.getBoolean(PROPERTY);
  }

  /**
   * Sends requests to both members, one of which is the leader. On a busy machine it sends as many
   * as the time limit allows.
   *
   * @throws IllegalStateException if a response is wrong
   */
  void run(RunningNode firstNode) {
    ActorSystem client = ActorSystem.create("training", first);
    try {
      use(firstNode, client);
      use(Objects.requireNonNull(secondNode), client);
    } finally {
      client.terminate();
    }
  }

  private static void use(RunningNode node, ActorSystem client) {
    int port = node.clientPorts().get(0);
    // Ports differ, so no other member of this training grants the same lease.
    long lease = port;
    Iterator<HttpRequest> requests =
        Stream.concat(
                Stream.of(TrainingRequests.grant(lease)), TrainingRequests.unary(ROUNDS, lease))
            .iterator();
    // The source of requests has no end: after an end a connection waits only 3 s for the
    // responses, and at this priority a busy machine may need longer.
    Pair<BoundedSourceQueue<HttpRequest>, Source<HttpRequest, NotUsed>> open =
        Source.<HttpRequest>queue(IN_FLIGHT).preMaterialize(client);
    for (int i = 0; i < IN_FLIGHT; i++) {
      open.first().offer(requests.next());
    }
    CompletionStage<Done> served =
        open.second()
            .via(connection(port, client))
            .mapAsync(1, response -> response.entity().toStrict(LIMIT.toMillis(), client))
            .map(ArchiveTraining::checked)
            .take(1 + (long) TrainingRequests.KINDS * ROUNDS)
            .runForeach(
                response -> {
                  if (requests.hasNext()) {
                    open.first().offer(requests.next());
                  }
                },
                client);
    Source.from(List.of(TrainingRequests.watch(), TrainingRequests.renewals(lease, ROUNDS)))
        .concat(Source.never())
        .via(connection(port, client))
        .flatMapMerge(2, response -> response.entity().getDataBytes())
        .runWith(Sink.ignore(), client);
    try {
      served.toCompletableFuture().get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException enough) {
      // The archive contains what was loaded and compiled so far.
      return;
    } catch (ExecutionException failed) {
      throw new IllegalStateException("training member does not serve", failed);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Flow<HttpRequest, HttpResponse, ?> connection(int port, ActorSystem client) {
    return Http.get(client).connectionTo("127.0.0.1").toPort(port).http2WithPriorKnowledge();
  }

  /** Requires that a response has a message besides its status. */
  private static HttpEntity.Strict checked(HttpEntity.Strict answer) {
    if (answer.getData().size() <= 5) {
      throw new IllegalStateException("response without a message");
    }
    return answer;
  }
}
