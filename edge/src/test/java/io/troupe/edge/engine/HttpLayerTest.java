package io.troupe.edge.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.LoggedLines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Requests and responses as the bytes of one connection. */
class HttpLayerTest {
  private static final ActorTestKit KIT = ActorTestKit.create();

  private final HttpLayer layer = new HttpLayer(KIT.system(), false, Duration.ZERO, Duration.ZERO);
  private final List<String> bodies = new CopyOnWriteArrayList<>();

  @AfterAll
  static void stop() {
    KIT.shutdownTestKit();
  }

  /** The bytes that a client receives until the server closes the connection. */
  private String responses(String sent) throws Exception {
    return Source.single(ByteString.fromString(sent))
        .concat(Source.maybe())
        .via(
            layer.serving(
                Flow.create(),
                request ->
                    request
                        .entity()
                        .toStrict(10_000, KIT.system())
                        .thenApply(
                            body -> {
                              bodies.add(body.getData().utf8String());
                              return HttpResponse.create().withEntity("fine");
                            })))
        .runWith(Sink.fold(ByteString.emptyByteString(), ByteString::concat), KIT.system())
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS)
        .utf8String();
  }

  /** RFC 9112 section 6.1: the framing is invalid. */
  @Test
  void chunkedBodyOverHttp10IsBadRequestAndNotLogged() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      assertThat(
              responses(
                  "POST /v3/kv/range HTTP/1.0\r\nConnection: keep-alive\r\n"
                      + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"))
          .startsWith("HTTP/1.1 400 Bad Request\r\n")
          .contains("\r\nConnection: close\r\n")
          .doesNotContain("fine");
      assertThat(bodies).isEmpty();
      assertThat(log.with("ERROR ")).isEmpty();
    }
  }

  @Test
  void otherBodiesAreAccepted() throws Exception {
    assertThat(responses("POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}"))
        .startsWith("HTTP/1.1 200 OK\r\n")
        .endsWith("fine");
    assertThat(
            responses(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n"
                    + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
        .contains("fine", "HTTP/1.1 200 OK\r\n")
        .endsWith("fine");
    assertThat(bodies).containsExactly("{}", "[]", "");
  }
}
