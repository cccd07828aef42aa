package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Streams of the JSON gateway (J6, J9), and curl as a client. */
class JsonStreamConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final Http1 http = new Http1(STORE.target());

  private static String key(String name) {
    return Base64.getEncoder().encodeToString(STORE.key(name).getBytes(StandardCharsets.UTF_8));
  }

  private static String create(String name) {
    return "{\"create_request\":{\"key\":\"" + key(name) + "\"}}";
  }

  private static JsonObject result(String line) {
    JsonObject object = JsonParser.parseString(line).getAsJsonObject();
    assertThat(object.keySet()).as(line).containsExactly("result");
    return object.get("result").getAsJsonObject();
  }

  private static Http1.Raw post(Http1 http, String path, String headers) {
    return http.connect()
        .write("POST " + path + " HTTP/1.1\r\nHost: " + STORE.target() + "\r\n" + headers + "\r\n");
  }

  private static JsonObject next(Http1.Raw connection) {
    return result(connection.lineOf("{"));
  }

  private static String only(JsonObject response) {
    return response
        .get("events")
        .getAsJsonArray()
        .get(0)
        .getAsJsonObject()
        .get("kv")
        .getAsJsonObject()
        .get("key")
        .getAsString();
  }

  @Test
  void watchContinuesAfterEndOfBody_J6() {
    String body = create("w");
    try (Http1.Raw watch = post(http, "/v3/watch", "Content-Length: " + body.length() + "\r\n")) {
      watch.write(body);
      assertThat(watch.line()).isEqualTo("HTTP/1.1 200 OK");
      assertThat(next(watch).get("created").getAsJsonPrimitive().getAsBoolean()).isTrue();
      for (int i = 0; i < 3; i++) {
        STORE.client().put(STORE.key("w"), "event " + i);
        assertThat(only(next(watch))).isEqualTo(key("w"));
      }
      STORE.client().delete(Requests.delete(STORE.key("w")));
      JsonObject event = next(watch).get("events").getAsJsonArray().get(0).getAsJsonObject();
      assertThat(event.get("type").getAsString()).isEqualTo("DELETE");
    }
  }

  @Test
  void requestsContinueDuringResponses_J6() {
    STORE.needs37();
    try (Http1.Raw watch = post(http, "/v3/watch", "Transfer-Encoding: chunked\r\n")) {
      String first = create("x");
      watch.chunk(first.substring(0, 9)).chunk(first.substring(9));
      assertThat(next(watch).get("created").getAsJsonPrimitive().getAsBoolean()).isTrue();
      watch.chunk("\n" + create("y") + create("z"));
      assertThat(next(watch).get("watch_id").getAsString()).isEqualTo("1");
      assertThat(next(watch).get("watch_id").getAsString()).isEqualTo("2");
      STORE.client().put(STORE.key("z"), "1");
      assertThat(only(next(watch))).isEqualTo(key("z"));
      watch.chunk("{\"cancel_request\":{\"watch_id\":\"2\"}}");
      assertThat(next(watch).get("canceled").getAsJsonPrimitive().getAsBoolean()).isTrue();
    }
  }

  @Test
  void malformedInputEndsStreamSilently_J6() {
    STORE.needs37();
    HttpResponse<String> none = http.post("/v3/watch", "nonsense");
    assertThat(none.statusCode()).isEqualTo(200);
    assertThat(none.body()).isEmpty();
    try (Http1.Raw watch = post(http, "/v3/watch", "Transfer-Encoding: chunked\r\n")) {
      watch.chunk(create("m"));
      next(watch);
      watch.chunk("{\"create_request\": 7}");
      // The last, empty chunk of the response.
      assertThat(watch.lineOf("0")).isEqualTo("0");
    }
  }

  private String grant() {
    return JsonParser.parseString(http.post("/v3/lease/grant", "{\"TTL\":60}").body())
        .getAsJsonObject()
        .get("ID")
        .getAsString();
  }

  @Test
  void eachRenewalGetsResponse_J6() {
    String renewal = "{\"ID\":\"" + grant() + "\"}";
    HttpResponse<String> both = http.post("/v3/lease/keepalive", renewal + "\n" + renewal);
    assertThat(both.statusCode()).isEqualTo(200);
    assertThat(both.body().lines().map(line -> result(line).get("TTL").getAsString()))
        .containsExactly("60", "60");
  }

  @Test
  void renewalsGetResponsesWhileBodyIsOpen_J6() {
    STORE.needs37();
    String id = grant();
    try (Http1.Raw open = post(http, "/v3/lease/keepalive", "Transfer-Encoding: chunked\r\n")) {
      for (int i = 0; i < 3; i++) {
        open.chunk("{\"ID\":\"" + id + "\"}");
        assertThat(next(open).get("ID").getAsString()).isEqualTo(id);
      }
    }
  }

  @Test
  void watchEndsOnDisconnect() {
    STORE.needs37();
    STORE.awaitNoWatchers();
    try (Http1.Raw watch = post(http, "/v3/watch", "Transfer-Encoding: chunked\r\n")) {
      watch.chunk(create("leaving"));
      next(watch);
      assertThat(watchers()).isEqualTo(1);
    }
    STORE.awaitNoWatchers();
  }

  private double watchers() {
    return MetricsText.of(http.get("/metrics").body()).value("etcd_debugging_mvcc_watcher_total");
  }

  private static final class Lines implements WebSocket.Listener {
    final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      lines.add(data.toString());
      socket.request(1);
      return null;
    }

    JsonObject next() throws InterruptedException {
      String line = lines.poll(20, TimeUnit.SECONDS);
      assertThat(line).isNotNull();
      return result(line);
    }
  }

  @Test
  void webSocketCarriesSameMessages_J9() throws Exception {
    Lines lines = new Lines();
    WebSocket socket =
        HttpClient.newHttpClient()
            .newWebSocketBuilder()
            .subprotocols("Bearer", "some-token")
            .buildAsync(URI.create("ws://" + STORE.target() + "/v3/watch"), lines)
            .get(20, TimeUnit.SECONDS);
    assertThat(socket.getSubprotocol()).isEqualTo("Bearer");
    socket.sendText(create("s1"), true).get(20, TimeUnit.SECONDS);
    assertThat(lines.next().get("created").getAsJsonPrimitive().getAsBoolean()).isTrue();
    socket.sendText(create("s2"), true).get(20, TimeUnit.SECONDS);
    assertThat(lines.next().get("watch_id").getAsString()).isEqualTo("1");
    STORE.client().put(STORE.key("s2"), "x");
    assertThat(only(lines.next())).isEqualTo(key("s2"));
    socket.abort();
  }

  @Test
  void curlPutsAndReads() throws Exception {
    assertThat(curl("/v3/kv/put", "{\"key\":\"" + key("curl") + "\",\"value\":\"Yg==\"}"))
        .contains("\"revision\":\"");
    assertThat(curl("/v3/kv/range", "{\"key\":\"" + key("curl") + "\"}"))
        .contains("\"value\":\"Yg==\"", "\"count\":\"1\"");
  }

  private static String curl(String path, String body) throws Exception {
    Process process =
        new ProcessBuilder("curl", "-sS", "-m", "20", "http://" + STORE.target() + path, "-d", body)
            .directory(Path.of("target").toFile())
            .redirectErrorStream(true)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isZero();
    return out;
  }
}
