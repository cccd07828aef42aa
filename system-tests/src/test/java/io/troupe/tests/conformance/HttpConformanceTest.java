package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmRequest.AlarmAction;
import io.troupe.grpc.api.AlarmType;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Section 5.1 on the port that serves everything. */
class HttpConformanceTest {
  @RegisterExtension
  static final ServedStore STORE = ServedStore.create().with("enable-pprof", "true");

  private static final String PLAIN = "text/plain; charset=utf-8";

  private final Http1 http = new Http1(STORE.target());

  private static String header(HttpResponse<String> response, String name) {
    return response.headers().firstValue(name).orElse("").replace("UTF-8", "utf-8");
  }

  private static void alarm(AlarmAction action, AlarmType type) {
    STORE
        .client()
        .call(
            Api.ALARM,
            AlarmRequest.newBuilder()
                .setAction(action)
                .setAlarm(type)
                .setMemberID(STORE.client().get("x").getHeader().getMemberId())
                .build());
  }

  @AfterEach
  void disarm() {
    alarm(AlarmAction.DEACTIVATE, AlarmType.NOSPACE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/health",
        "/livez",
        "/livez/serializable_read",
        "/readyz",
        "/readyz/non_learner",
        "/version",
        "/debug/vars"
      })
  void onlyGetIsAllowed_H1(String path) {
    for (String method : new String[] {"POST", "PUT", "DELETE"}) {
      HttpResponse<String> refused = http.send(method, path, "x");
      assertThat(refused.statusCode()).as(method).isEqualTo(405);
      assertThat(header(refused, "allow")).isEqualTo("GET");
      assertThat(refused.body().trim()).isEqualTo("Method Not Allowed");
    }
    assertThat(http.send("HEAD", path, "").statusCode()).isEqualTo(405);
    assertThat(http.get(path).statusCode()).isEqualTo(200);
  }

  /** HEAD and GET requests as load balancers send them. */
  @ParameterizedTest
  @ValueSource(strings = {"GET /health HTTP/1.0\r\n\r\n", "GET /health HTTP/1.1\r\nHost:\r\n\r\n"})
  void requestWithoutHostIsServed_H2(String request) {
    try (Http1.Raw connection = http.connect()) {
      assertThat(connection.write(request).line()).startsWith("HTTP/1.1 200 ");
    }
  }

  /** Clients write queries by hand, and some tokens are long. */
  @Test
  void lenientUrisAreAccepted_H2() {
    String request = "GET /health?exclude=NOSPACE|x[1]\" HTTP/1.1\r\nHost: a\r\n";
    try (Http1.Raw connection = http.connect()) {
      assertThat(connection.write(request + "\r\n").line()).startsWith("HTTP/1.1 200 ");
    }
    assertThat(http.get("/health", "Authorization", "x".repeat(15_000)).statusCode())
        .isEqualTo(200);
    assertThat(http.get("/health?a=" + "x".repeat(8000)).statusCode()).isEqualTo(200);
  }

  @Test
  void healthOfHealthyMember_H2() {
    for (String query : new String[] {"", "?serializable=true", "?exclude=NOSPACE", "?other=%41"}) {
      HttpResponse<String> healthy = http.get("/health" + query);
      assertThat(healthy.statusCode()).isEqualTo(200);
      assertThat(healthy.body()).isEqualTo("{\"health\":\"true\",\"reason\":\"\"}");
      assertThat(header(healthy, "content-type")).isEqualToIgnoringCase(PLAIN);
    }
  }

  @Test
  void alarmFailsHealthButNotReadiness_H2_H3() {
    alarm(AlarmAction.ACTIVATE, AlarmType.NOSPACE);
    HttpResponse<String> bad = http.get("/health");
    assertThat(bad.statusCode()).isEqualTo(503);
    assertThat(bad.body()).isEqualTo("{\"health\":\"false\",\"reason\":\"ALARM NOSPACE\"}\n");
    assertThat(header(bad, "content-type")).isEqualToIgnoringCase(PLAIN);
    assertThat(http.get("/health?exclude=CORRUPT").statusCode()).isEqualTo(503);
    assertThat(http.get("/health?exclude=CORRUPT&exclude=NOSPACE").statusCode()).isEqualTo(200);
    assertThat(http.get("/readyz").statusCode()).isEqualTo(200);
  }

  @Test
  void passingChecksAreListed_H4() {
    HttpResponse<String> plain = http.get("/readyz");
    assertThat(plain.body()).isEqualTo("ok\n");
    assertThat(header(plain, "content-type")).isEqualToIgnoringCase(PLAIN);
    assertThat(header(plain, "x-content-type-options")).isEqualTo("nosniff");
    assertThat(http.get("/livez?verbose").body()).isEqualTo("[+]serializable_read ok\nok\n");
    assertThat(http.get("/readyz?verbose=").body().lines())
        .containsExactlyInAnyOrder(
            "[+]data_corruption ok",
            "[+]serializable_read ok",
            "[+]linearizable_read ok",
            "[+]non_learner ok",
            "ok")
        .endsWith("ok");
    assertThat(http.get("/readyz/linearizable_read?verbose").body())
        .isEqualTo("[+]linearizable_read ok\nok\n");
  }

  @Test
  void checksCanBeExcluded_H3() {
    assertThat(
            http.get("/readyz?verbose&exclude=non_learner&exclude=data_corruption&exclude=unknown")
                .body()
                .lines())
        .containsExactlyInAnyOrder("[+]serializable_read ok", "[+]linearizable_read ok", "ok");
    // The path of a single check has nothing to exclude.
    assertThat(http.get("/livez/serializable_read?verbose&exclude=serializable_read").body())
        .isEqualTo("[+]serializable_read ok\nok\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/healthz", "/livez/", "/livez/linearizable_read", "/readyz/unknown", "/v2/keys"})
  void otherPathsAreNotFound(String path) {
    HttpResponse<String> missing = http.get(path);
    assertThat(missing.statusCode()).isEqualTo(404);
    assertThat(missing.body()).isEqualTo("404 page not found\n");
  }

  @Test
  void everyOriginIsAllowedByDefault_H7() {
    for (HttpResponse<String> answer :
        List.of(
            http.get("/version"),
            http.get("/nothing"),
            http.send("OPTIONS", "/v3/kv/put", "", "Origin", "http://x.example"),
            http.post("/v3/kv/range", "{}"))) {
      assertThat(header(answer, "access-control-allow-origin")).isEqualTo("*");
      assertThat(header(answer, "access-control-allow-methods"))
          .isEqualTo("POST, GET, OPTIONS, PUT, DELETE");
      assertThat(header(answer, "access-control-allow-headers"))
          .isEqualTo("accept, content-type, authorization");
    }
    HttpResponse<String> options = http.send("OPTIONS", "/anything", "");
    assertThat(options.statusCode()).isEqualTo(200);
    assertThat(options.body()).isEmpty();
  }

  @Test
  void debugVarsAreOneJsonObject() {
    JsonObject vars = JsonParser.parseString(http.get("/debug/vars").body()).getAsJsonObject();
    assertThat(vars.get("cmdline").getAsJsonArray()).isNotEmpty();
    assertThat(vars.get("file_descriptor_limit").getAsLong()).isPositive();
    assertThat(vars.get("memstats").getAsJsonObject().get("HeapAlloc").getAsLong()).isPositive();
    JsonObject raft = vars.get("raft.status").getAsJsonObject();
    assertThat(raft.get("raftState").getAsString()).isEqualTo("StateLeader");
    assertThat(raft.get("commit").getAsLong()).isPositive();
  }

  @Test
  void jvmProfilesAreServed() {
    assertThat(http.get("/debug/pprof/").body()).contains("goroutine", "heap", "profile");
    assertThat(http.get("/debug/pprof/goroutine").body())
        .contains("troupe-dispatchers.raft", "java.lang.Thread.State");
    assertThat(http.get("/debug/pprof/heap").body()).contains("java.lang.String");
    assertThat(http.get("/debug/pprof/nothing").statusCode()).isEqualTo(404);
    assertThat(http.get("/debug/pprof/trace?seconds=0").statusCode()).isEqualTo(400);
    assertThat(http.get("/debug/pprof/trace?seconds=x").statusCode()).isEqualTo(400);
    HttpResponse<String> recording = http.get("/debug/pprof/trace?seconds=1");
    assertThat(recording.statusCode()).isEqualTo(200);
    assertThat(recording.body()).startsWith("FLR");
  }
}
