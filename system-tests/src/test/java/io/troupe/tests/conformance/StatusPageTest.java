package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page at /, which etcd does not have (docs/conformance.md). */
class StatusPageTest {
  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create().with("bcrypt-cost", "4").with("name", "<b>&\"n1\"");

  private final Http1 http = new Http1(STORE.target());
  private final AuthClient anonymous = AuthClient.anonymous(STORE.client());
  private boolean enabled;

  @AfterEach
  void disable() {
    if (enabled) {
      anonymous.login("root", "pw").disable();
      anonymous.userDelete("root");
      anonymous.roleDelete("root");
    }
  }

  private void enable() {
    anonymous.userAdd("root", "pw");
    anonymous.roleAdd("root");
    anonymous.grantRole("root", "root");
    anonymous.enable();
    enabled = true;
  }

  @Test
  void pageShowsMemberAndCluster() {
    STORE.client().put(STORE.key("a"), "1");
    HttpResponse<String> page = http.get("/");
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.headers().firstValue("content-type").orElse(""))
        .isEqualToIgnoringCase("text/html; charset=UTF-8");
    String member = Long.toHexString(STORE.client().get("x").getHeader().getMemberId());
    assertThat(page.body())
        .contains("etcd API 3.7.1", "<td>" + member + "</td>", "<td>leader</td>")
        .contains(
            "http://127.0.0.1:",
            "alarms</th><td>none</td>",
            "compacted revision</th>",
            "href=\"/metrics\"")
        .contains("docs/operations.md");
  }

  @Test
  void textOfMembersIsEscaped() {
    assertThat(http.get("/").body())
        .contains("&lt;b&gt;&amp;&quot;n1&quot;")
        .doesNotContain("<b>", "<script");
  }

  @Test
  void pageOfAnotherSiteCannotReadIt() {
    HttpResponse<String> page = http.get("/", "Origin", "http://evil.example");
    assertThat(page.headers().firstValue("access-control-allow-origin")).isEmpty();
    assertThat(page.headers().firstValue("content-security-policy").orElse(""))
        .contains("default-src 'none'", "frame-ancestors 'none'");
    assertThat(page.headers().firstValue("cache-control")).contains("no-store");
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "HEAD"})
  void pageIsReadOnly(String method) {
    assertThat(http.send(method, "/", "").statusCode()).isEqualTo(405);
  }

  @Test
  void pageIsOffWhileAuthenticationIsOn() {
    enable();
    HttpResponse<String> off = http.get("/");
    assertThat(off.statusCode()).isEqualTo(404);
    assertThat(off.body()).isEqualTo("404 page not found\n");
    disable();
    enabled = false;
    assertThat(http.get("/").statusCode()).isEqualTo(200);
  }
}
