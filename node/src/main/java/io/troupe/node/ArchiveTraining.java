package io.troupe.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import com.typesafe.config.Config;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

/**
 * The use that a throw-away member is put to before it ends, so that the archive that its JVM then
 * writes knows more than a start: puts and ranges over its port. Only bin/node asks for it
 * (docs/decisions/0011).
 */
final class ArchiveTraining {
  private static final String PROPERTY = "io.troupe.node.training";
  private static final int ROUNDS = 100;
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private ArchiveTraining() {}

  /** Whether this process is for nothing else. */
  static boolean isAsked() {
    return Boolean.getBoolean(PROPERTY);
  }

  /**
   * Uses the member; on a machine that is too busy, as much as the time allows.
   *
   * @param port of this process on the loopback
   * @throws IllegalStateException if the member answers wrongly
   */
  static void run(int port, Config config) {
    ActorSystem client = ActorSystem.create("training", config);
    try {
      // The requests never end by themselves: once they have, a connection gives the answers 3 s,
      // and a busy machine that leaves this priority no time may need longer.
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
      // What was loaded until now is in the archive.
      return;
    } catch (ExecutionException failed) {
      throw new IllegalStateException("the member does not serve", failed);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      client.terminate();
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

  /** An answer has a message: more than a status. */
  private static HttpEntity.Strict checked(HttpEntity.Strict answer) {
    if (answer.getData().size() <= 5) {
      throw new IllegalStateException("an answer without a message");
    }
    return answer;
  }
}
