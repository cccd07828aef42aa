package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The feature SetMemberLocalAddr (4.3). */
class MemberLocalAddressTest {
  private static final String KEY = "pekko.remote.artery.advanced.tcp.outbound-client-hostname";

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

  private static Config remoting(Path directory, String gates) {
    Map<String, Object> settings = TestConfig.alone(directory);
    settings.put("troupe.feature-gates", gates);
    settings.put("troupe.initial-advertise-peer-urls", "http://192.0.2.7:2380");
    return Remoting.config(NodeSettings.of(TestConfig.of(settings)));
  }

  @Test
  void memberLocalAddressIsOffByDefault(@TempDir Path directory) {
    assertThat(remoting(directory, "").hasPath(KEY)).isFalse();
    assertThat(remoting(directory, "SetMemberLocalAddr=true").getString(KEY))
        .isEqualTo("192.0.2.7");
  }
}
