package io.troupe.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.jspecify.annotations.Nullable;

/**
 * Runs a training load in a temporary process before that process exits and its JVM writes the
 * class archive. Puts and ranges over the ports of a cluster of two members load more classes than
 * a start alone, including those for traffic between members. Only bin/node starts it
 * (docs/decisions/0011).
 */
final class ArchiveTraining {
  private static final String PROPERTY = "io.troupe.node.training";
  private static final int ROUNDS = 60;
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
    try {
      // The stream of requests has no end: after an end a connection waits only 3 s for the
      // responses, and at this priority a busy machine may need longer.
      Source.from(requests())
          .concat(Source.never())
          .via(Http.get(client).connectionTo("127.0.0.1").toPort(port).http2WithPriorKnowledge())
          .mapAsync(1, response -> response.entity().toStrict(LIMIT.toMillis(), client))
          .map(ArchiveTraining::checked)
          .take(2L * ROUNDS)
          .runWith(Sink.ignore(), client)
          .toCompletableFuture()
          .get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException enough) {
      // The archive contains the classes loaded so far.
      return;
    } catch (ExecutionException failed) {
      throw new IllegalStateException("training member does not serve", failed);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<HttpRequest> requests() {
    return IntStream.range(0, ROUNDS).boxed().flatMap(ArchiveTraining::round).toList();
  }

  private static Stream<HttpRequest> round(int number) {
    ByteString key = ByteString.copyFromUtf8("training/" + number % 10);
    return Stream.of(
        request("Put", PutRequest.newBuilder().setKey(key).setValue(key).build()),
        request("Range", RangeRequest.newBuilder().setKey(key).build()));
  }

  private static HttpRequest request(String method, MessageLite message) {
    byte[] body = message.toByteArray();
    // gRPC's frame: not compressed, four bytes of length
    byte[] frame = new byte[5 + body.length];
    frame[4] = (byte) body.length;
    System.arraycopy(body, 0, frame, 5, body.length);
    return HttpRequest.POST("/etcdserverpb.KV/" + method)
        .withEntity(
            HttpEntities.create(
                MediaTypes.applicationBinary("grpc", false).toContentType(), frame));
  }

  /** Requires that a response has a message besides its status. */
  private static HttpEntity.Strict checked(HttpEntity.Strict answer) {
    if (answer.getData().size() <= 5) {
      throw new IllegalStateException("response without a message");
    }
    return answer;
  }
}
