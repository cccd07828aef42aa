package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.troupe.grpc.api.RangeResponse;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The JSON gateway's unary calls (J1-J5, J8). */
class JsonConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final Http1 http = new Http1(STORE.target());

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String key(String name) {
    return base64(STORE.key(name));
  }

  private JsonObject ok(String path, String body) {
    HttpResponse<String> answer = http.post(path, body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).hasValue("application/json");
    return JsonParser.parseString(answer.body()).getAsJsonObject();
  }

  private JsonObject refused(HttpResponse<String> answer, int status, int code) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("content-type")).hasValue("application/json");
    JsonObject error = JsonParser.parseString(answer.body()).getAsJsonObject();
    assertThat(error.get("code").getAsInt()).isEqualTo(code);
    assertThat(error.has("details") && !error.get("details").getAsJsonArray().isEmpty()).isFalse();
    return error;
  }

  private String message(HttpResponse<String> answer, int status, int code) {
    return refused(answer, status, code).get("message").getAsString();
  }

  @Test
  void putAndRange_J1_J3() {
    JsonObject put =
        ok("/v3/kv/put", "{\"key\":\"" + key("a") + "\",\"value\":\"" + base64("b") + "\"}");
    JsonElement revision = put.get("header").getAsJsonObject().get("revision");
    assertThat(revision.getAsJsonPrimitive().isString()).isTrue();
    JsonObject range = ok("/v3/kv/range", "{\"key\":\"" + key("a") + "\"}");
    assertThat(range.get("count").getAsString()).isEqualTo("1");
    JsonObject kv = range.get("kvs").getAsJsonArray().get(0).getAsJsonObject();
    assertThat(kv.get("key").getAsString()).isEqualTo(key("a"));
    assertThat(kv.get("value").getAsString()).isEqualTo(base64("b"));
    assertThat(kv.get("mod_revision").getAsString()).isEqualTo(revision.getAsString());
    assertThat(kv.get("version").getAsString()).isEqualTo("1");
    assertThat(kv.has("lease")).isFalse();
  }

  @Test
  void locksAndElections_J1_LK1_E5() {
    JsonObject lock = ok("/v3/lock/lock", "{\"name\":\"" + key("lock") + "\"}");
    String held = lock.get("key").getAsString();
    assertThat(new String(Base64.getDecoder().decode(held), StandardCharsets.UTF_8))
        .startsWith(STORE.key("lock") + "/");
    assertThat(ok("/v3/lock/unlock", "{\"key\":\"" + held + "\"}").keySet())
        .containsExactly("header");
    JsonObject won =
        ok(
            "/v3/election/campaign",
            "{\"name\":\"" + key("vote") + "\",\"value\":\"" + base64("me") + "\"}");
    assertThat(won.getAsJsonObject("leader").get("name").getAsString()).isEqualTo(key("vote"));
    JsonObject leader = ok("/v3/election/leader", "{\"name\":\"" + key("vote") + "\"}");
    assertThat(leader.getAsJsonObject("kv").get("value").getAsString()).isEqualTo(base64("me"));
  }

  @Test
  void defaultsAreLeftOut_J2() {
    JsonObject range = ok("/v3/kv/range", "{\"key\":\"" + key("nothing") + "\"}");
    assertThat(range.keySet()).containsExactly("header");
    assertThat(http.post("/v3/kv/range", "{\"key\":\"" + key("nothing") + "\"}").body())
        .doesNotEndWith("\n");
  }

  @Test
  void inputMayBeInCamelCaseAndHaveUnknownFields_J2() {
    STORE.client().put(STORE.key("c1"), "1");
    STORE.client().put(STORE.key("c2"), "2");
    for (String name : new String[] {"range_end", "rangeEnd"}) {
      JsonObject range =
          ok(
              "/v3/kv/range",
              "{\"key\":\"" + key("c") + "\",\"" + name + "\":\"" + key("d") + "\",\"later\":[1]}");
      assertThat(range.get("count").getAsString()).isEqualTo("2");
    }
  }

  @Test
  void bytesMayBeUrlSafeAndWithoutPadding_J3() {
    String name = "??>>~";
    STORE.client().put(STORE.key(name), "x");
    byte[] raw = STORE.key(name).getBytes(StandardCharsets.UTF_8);
    for (Base64.Encoder encoder :
        new Base64.Encoder[] {
          Base64.getEncoder(),
          Base64.getEncoder().withoutPadding(),
          Base64.getUrlEncoder(),
          Base64.getUrlEncoder().withoutPadding()
        }) {
      assertThat(
              ok("/v3/kv/range", "{\"key\":\"" + encoder.encodeToString(raw) + "\"}")
                  .get("count")
                  .getAsString())
          .isEqualTo("1");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"2\"", "2"})
  void wholeNumbersMayBeStrings_J3(String limit) {
    for (int i = 0; i < 3; i++) {
      STORE.client().put(STORE.key("n" + i), "x");
    }
    JsonObject range =
        ok(
            "/v3/kv/range",
            "{\"key\":\""
                + key("n")
                + "\",\"range_end\":\""
                + key("o")
                + "\",\"limit\":"
                + limit
                + "}");
    assertThat(range.get("kvs").getAsJsonArray()).hasSize(2);
    assertThat(range.get("more").getAsJsonPrimitive().getAsBoolean()).isTrue();
    assertThat(range.get("count").getAsString()).isEqualTo("3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"DESCEND\"", "2"})
  void enumsMayBeNamesOrNumbers_J3(String order) {
    STORE.client().put(STORE.key("e1"), "x");
    STORE.client().put(STORE.key("e2"), "x");
    JsonObject range =
        ok(
            "/v3/kv/range",
            "{\"key\":\""
                + key("e")
                + "\",\"range_end\":\""
                + key("f")
                + "\",\"sort_order\":"
                + order
                + "}");
    assertThat(range.get("kvs").getAsJsonArray().get(0).getAsJsonObject().get("key").getAsString())
        .isEqualTo(key("e2"));
  }

  @Test
  void transactionWithOneofs_J3() {
    STORE.client().put(STORE.key("t"), "old");
    JsonObject txn =
        ok(
            "/v3/kv/txn",
            "{\"compare\":[{\"result\":\"EQUAL\",\"target\":\"VALUE\",\"key\":\""
                + key("t")
                + "\",\"value\":\""
                + base64("old")
                + "\"}],"
                + "\"success\":[{\"request_put\":{\"key\":\""
                + key("t")
                + "\",\"value\":\""
                + base64("new")
                + "\"}},{\"requestRange\":{\"key\":\""
                + key("t")
                + "\"}}]}");
    assertThat(txn.get("succeeded").getAsJsonPrimitive().getAsBoolean()).isTrue();
    JsonObject second = txn.get("responses").getAsJsonArray().get(1).getAsJsonObject();
    assertThat(second.keySet()).containsExactly("response_range");
    assertThat(STORE.client().get(STORE.key("t")).getKvs(0).getValue().toStringUtf8())
        .isEqualTo("new");
  }

  @Test
  void emptyBodyIsEmptyMessage_J1() {
    assertThat(ok("/v3/maintenance/status", "").get("version").getAsString()).startsWith("3.");
    assertThat(ok("/v3/cluster/member/list", "  \n").get("members").getAsJsonArray()).hasSize(1);
  }

  @Test
  void contentTypeIsIgnored_J1() {
    assertThat(
            http.post("/v3/kv/range", "{\"key\":\"AA==\"}", "Content-Type", "text/plain")
                .statusCode())
        .isEqualTo(200);
  }

  @Test
  void leasesHaveTwoPaths() {
    String id = ok("/v3/lease/grant", "{\"TTL\":60}").get("ID").getAsString();
    for (String path : new String[] {"/v3/lease/timetolive", "/v3/kv/lease/timetolive"}) {
      JsonObject time = ok(path, "{\"ID\":\"" + id + "\",\"keys\":true}");
      assertThat(time.get("grantedTTL").getAsString()).isEqualTo("60");
    }
    for (String path : new String[] {"/v3/lease/leases", "/v3/kv/lease/leases"}) {
      assertThat(ok(path, "{}").get("leases").getAsJsonArray().toString()).contains(id);
    }
    ok("/v3/kv/lease/revoke", "{\"ID\":" + id + "}");
    assertThat(message(http.post("/v3/lease/revoke", "{\"ID\":" + id + "}"), 404, 5))
        .isEqualTo("etcdserver: requested lease not found");
  }

  @Test
  void invalidInputIsRefused_J5() {
    assertThat(message(http.post("/v3/kv/put", "{}"), 400, 3))
        .isEqualTo("etcdserver: key is not provided");
    assertThat(
            message(
                http.post("/v3/kv/range", "{\"key\":\"AA==\",\"revision\":\"99999999\"}"), 400, 11))
        .isEqualTo("etcdserver: mvcc: required revision is a future revision");
    assertThat(message(http.post("/v3/kv/put", "{\"key\":\"AA==\",\"lease\":\"77\"}"), 404, 5))
        .isEqualTo("etcdserver: requested lease not found");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "PUT", "DELETE", "PATCH"})
  void onlyPostIsImplemented_J5(String method) {
    assertThat(message(http.send(method, "/v3/kv/range", ""), 501, 12))
        .isEqualTo("Method Not Allowed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v3/kv/nothing", "/v3/", "/v3/kv/range/x", "/v3/kv/rangestream"})
  void otherPathsAreNotFound_J5(String path) {
    assertThat(message(http.post(path, "{}"), 404, 5)).isEqualTo("Not Found");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "[]",
        "x",
        "{\"key\":}",
        "{key:\"AA==\"}",
        "{'key':'AA=='}",
        "{\"key\":\"*\"}",
        "{\"limit\":\"many\"}",
        "{\"limit\":1.5}",
        "{\"limit\":[1]}",
        "{\"serializable\":3}"
      })
  void invalidMessageIsRefused_J5(String body) {
    assertThat(message(http.post("/v3/kv/range", body), 400, 3)).isNotEmpty();
  }

  @Test
  void textAfterFirstValueIsIgnored_J5() {
    assertThat(ok("/v3/kv/range", "{\"key\":\"AA==\"} {\"key\": broken").has("header")).isTrue();
  }

  @Test
  void metadataIsReadAndReturned_J8() {
    HttpResponse<String> answer =
        http.post("/v3/kv/range", "{\"key\":\"AA==\"}", "Grpc-Metadata-hasleader", "true");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("grpc-metadata-content-type"))
        .hasValue("application/grpc");
    // An unknown token is ignored while there is no authentication.
    assertThat(
            http.post("/v3/kv/range", "{\"key\":\"AA==\"}", "Authorization", "Bearer x")
                .statusCode())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({"10S, 200", "1n, 504", "x, 400"})
  void timeoutHeaderSetsDeadline_J8(String timeout, int status) {
    HttpResponse<String> answer =
        http.post("/v3/kv/range", "{\"key\":\"AA==\"}", "Grpc-Timeout", timeout);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
  }

  @Test
  void bodiesAreBounded() {
    String value = Base64.getEncoder().encodeToString(new byte[1_572_864 + 524_288]);
    refused(
        http.post("/v3/kv/put", "{\"key\":\"" + key("big") + "\",\"value\":\"" + value + "\"}"),
        429,
        8);
    RangeResponse after = STORE.client().get(STORE.key("big"));
    assertThat(after.getCount()).isZero();
    STORE.client().put(STORE.key("big"), "small");
  }

  @Test
  void oldPrefixServesSameMethods() {
    STORE.needs37();
    assertThat(ok("/v3beta/kv/range", "{\"key\":\"AA==\"}").has("header")).isTrue();
  }
}
