package io.troupe.node.ports;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.node.TestConfig;
import io.troupe.node.config.NodeSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The feature SetMemberLocalAddr (4.3). */
class MemberLocalAddressTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http://localhost:2380|",
        "https://0.0.0.0:2380|",
        "https://[::]:2380|",
        "https://127.0.0.1:2380|",
        "https://[::1]:2380|",
        "https://a.example:2380|",
        "https://999.1.1.1:2380|",
        "https://192.0.2.7:2380|192.0.2.7",
        "https://a.example:2380,https://192.0.2.7:2380|192.0.2.7",
        "https://127.0.0.1:2380,https://[2001:db8::7]:2380,https://192.0.2.7:2380|2001:db8::7",
      })
  void firstReachableAddressIsUsed(String urls, String wanted) {
    assertThat(MemberLocalAddress.of(List.of(urls.split(",", -1))).orElse(null)).isEqualTo(wanted);
  }

  private static @Nullable String localHost(Path directory, String gates) {
    Map<String, Object> settings = TestConfig.alone(directory);
    settings.put("troupe.feature-gates", gates);
    settings.put("troupe.initial-advertise-peer-urls", "http://192.0.2.7:2380");
    return Peers.network(NodeSettings.of(TestConfig.of(settings)), 0).localHost();
  }

  @Test
  void memberLocalAddressIsOffByDefault(@TempDir Path directory) {
    assertThat(localHost(directory, "")).isNull();
    assertThat(localHost(directory, "SetMemberLocalAddr=true")).isEqualTo("192.0.2.7");
  }
}
