package io.troupe.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.node.TestConfig;
import io.troupe.testing.LoggedLines;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Login settings that etcd corrects (section 4.2), and limits that follow from the heap. */
class DerivedSettingsTest {
  private final LoggedLines log = new LoggedLines(DerivedSettings.class);

  @AfterEach
  void end() {
    log.close();
  }

  private static String hash(String cost) throws Exception {
    return DerivedSettings.logins(settings("bcrypt-cost", cost))
        .passwords()
        .hash("1", () -> false)
        .toCompletableFuture()
        .get(30, TimeUnit.SECONDS);
  }

  private static NodeSettings settings(String key, String value) {
    return NodeSettings.of(TestConfig.of(Map.of("troupe." + key, value)));
  }

  private List<String> warnings() {
    return log.with("WARN ");
  }

  private static int connections(Map<String, Object> settings) {
    NodeSettings read = NodeSettings.of(TestConfig.of(settings));
    return DerivedSettings.http(read).limits().connections();
  }

  @Test
  void tlsConnectionsCostMoreHeap() {
    long heap = Runtime.getRuntime().maxMemory();
    Map<String, Object> secure =
        Map.of(
            "troupe.listen-client-urls",
            List.of("https://127.0.0.1:2379"),
            "troupe.client-transport-security.auto-tls",
            true);
    assertThat(connections(Map.of())).isEqualTo(Math.max(100, (int) (heap / 8 / (72 << 10))));
    assertThat(connections(secure)).isEqualTo(Math.max(100, (int) (heap / 16 * 3 / (180 << 10))));
    Map<String, Object> given = new HashMap<>(secure);
    given.put("troupe.max-connections", 5000);
    assertThat(connections(given)).isEqualTo(5000);
  }

  @Test
  void invalidBcryptCostIsTen() throws Exception {
    assertThat(hash("4")).startsWith("$2a$04$");
    assertThat(warnings()).isEmpty();
    List<String> expected = new ArrayList<>();
    for (String cost : new String[] {"0", "3", "32", "9223372036854775807"}) {
      expected.add("WARN troupe.bcrypt-cost = " + cost + " is not between 4 and 31: using 10");
      assertThat(hash(cost)).startsWith("$2a$10$");
      assertThat(warnings()).isEqualTo(expected);
    }
    assertThatThrownBy(() -> settings("bcrypt-cost", "-1"))
        .hasMessageContaining("troupe.bcrypt-cost");
  }

  @Test
  void zeroTokenTtlUsesDefault() {
    DerivedSettings.logins(settings("auth-token-ttl", "0 s"));
    assertThat(warnings()).containsExactly("WARN troupe.auth-token-ttl = 0: using 300 s");
    assertThatThrownBy(() -> settings("auth-token-ttl", "-1 s"))
        .hasMessageContaining("troupe.auth-token-ttl");
  }
}
