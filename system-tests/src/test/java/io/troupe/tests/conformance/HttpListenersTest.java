package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.FreePort;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Separate ports for HTTP and for metrics; refused host names and origins. */
class HttpListenersTest {
  private static final String HTTP = "127.0.0.1:" + FreePort.next();
  private static final String METRICS = "127.0.0.1:" + FreePort.next();

  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create()
          .with("listen-client-http-urls", "http://" + HTTP)
          .with("listen-metrics-urls", "http://" + METRICS)
          .with("cors", "http://good.example,http://fine.example")
          .with("host-whitelist", "127.0.0.1,members.example");

  private final Http1 http = new Http1(HTTP);
  private final Http1 metrics = new Http1(METRICS);

  private static String origin(HttpResponse<String> response) {
    return response.headers().firstValue("access-control-allow-origin").orElse("");
  }

  private static String statusLine(String target, String request) {
    try (Http1.Raw connection = new Http1(target).connect()) {
      return connection.write(request).line();
    }
  }

  @Test
  void grpcPortsServeOnlyGrpc_T1() {
    STORE.client().put(STORE.key("a"), "over HTTP/2");
    assertThat(new Http1(STORE.target()).get("/version").statusCode()).isEqualTo(505);
    assertThat(new Http1(STORE.target()).post("/v3/kv/range", "{}").statusCode()).isEqualTo(505);
  }

  @Test
  void httpPortsServeOnlyHttp_T1() {
    assertThat(http.get("/version").statusCode()).isEqualTo(200);
    assertThat(http.post("/v3/kv/range", "{\"key\":\"AA==\"}").statusCode()).isEqualTo(200);
    assertThat(http.get("/metrics").body()).contains("etcd_server_has_leader 1");
    // The preface of HTTP/2.
    assertThat(statusLine(HTTP, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).doesNotContain("200");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/metrics", "/health", "/livez", "/readyz", "/readyz/non_learner"})
  void metricsPortsServeMetrics_H8(String path) {
    HttpResponse<String> answer = metrics.get(path, "Origin", "http://good.example");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(origin(answer)).isEmpty();
    assertThat(statusLine(METRICS, "GET " + path + " HTTP/1.1\r\nHost: elsewhere\r\n\r\n"))
        .isEqualTo("HTTP/1.1 200 OK");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/version", "/debug/vars", "/v3/kv/range", "/v3/watch", "/"})
  void metricsPortsServeOnlyMetrics_H8(String path) {
    assertThat(metrics.get(path).statusCode()).isEqualTo(404);
    assertThat(metrics.post(path, "{}").statusCode()).isEqualTo(404);
  }

  @Test
  void unlistedHostNamesAreRefused_H6() {
    for (String host : new String[] {"members.example", "members.example:2379", "127.0.0.1"}) {
      assertThat(statusLine(HTTP, "GET /version HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
          .isEqualTo("HTTP/1.1 200 OK");
    }
    assertThat(statusLine(HTTP, "GET /version HTTP/1.0\r\n\r\n"))
        .as("a request without a host name is refused")
        .startsWith("HTTP/1.1 421 ");
    for (String path : new String[] {"/version", "/metrics", "/v3/kv/range"}) {
      try (Http1.Raw connection = http.connect()) {
        connection.write("GET " + path + " HTTP/1.1\r\nHost: evil.example\r\n\r\n");
        assertThat(connection.line()).startsWith("HTTP/1.1 421 ");
        assertThat(connection.lineOf("This member")).contains("TLS", "--host-whitelist");
      }
    }
  }

  @Test
  void onlyListedOriginsAreAllowed_H7() {
    assertThat(origin(http.get("/version", "Origin", "http://fine.example")))
        .isEqualTo("http://fine.example");
    assertThat(origin(http.get("/version", "Origin", "http://bad.example"))).isEmpty();
    assertThat(origin(http.get("/version"))).isEmpty();
    HttpResponse<String> foreign =
        http.send("OPTIONS", "/v3/kv/put", "", "Origin", "http://bad.example");
    assertThat(foreign.statusCode()).isEqualTo(200);
    assertThat(foreign.body()).isEmpty();
    assertThat(origin(foreign)).isEmpty();
  }

  @Test
  void profilesAreNotOfferedByDefault() {
    assertThat(http.get("/debug/pprof/").statusCode()).isEqualTo(404);
  }
}
