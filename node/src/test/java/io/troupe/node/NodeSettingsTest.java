package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What is derived from settings. */
class NodeSettingsTest {
  private static NodeSettings settings(String... lines) {
    Config config = ConfigFactory.empty();
    for (String line : lines) {
      config = ConfigFactory.parseString("troupe." + line).withFallback(config);
    }
    return NodeSettings.of(
        config
            .withFallback(ConfigFactory.parseResources("troupe-defaults.conf"))
            .withFallback(ConfigFactory.defaultReferenceUnresolved())
            .resolve());
  }

  @Test
  void theTimeForTheDiskIsCountedInHeartbeats() {
    assertThat(settings().diskStallTicks()).isEqualTo(20);
    assertThat(settings("heartbeat-interval = 30 ms").diskStallTicks()).isEqualTo(67);
    assertThat(settings("disk-stall-timeout = 1 ms").diskStallTicks()).isEqualTo(1);
    assertThat(settings("disk-stall-timeout = 0 s").diskStallTicks()).isZero();
    assertThatThrownBy(() -> settings("disk-stall-timeout = 1 hour"))
        .hasMessageContaining("troupe.disk-stall-timeout");
  }

  @Test
  void theRateOfSnapshotsHasAFloor() {
    assertThat(settings().snapshotSendRateBytes()).isEqualTo(64L << 20);
    assertThatThrownBy(() -> settings("snapshot-send-rate = 1 KiB"))
        .hasMessageContaining("troupe.snapshot-send-rate");
  }

  @Test
  void theLogGoesToStreamsAndFiles() {
    assertThat(settings().log().outputs()).containsExactly("stderr");
    assertThat(settings("log.outputs = \"stdout, /var/log/x.log\"").log().outputs())
        .containsExactly("stdout", "/var/log/x.log");
    assertThatThrownBy(() -> settings("log.outputs = []")).hasMessageContaining("log.outputs");
  }

  @Test
  void onlyAFileAloneIsRotated() {
    assertThat(settings("log.outputs = [\"x.log\"]").log().rotation()).isEmpty();
    assertThat(
            settings(
                    "log.outputs = [\"x.log\"]",
                    "log.rotate = true",
                    "log.rotation = \"{\\\"maxsize\\\": 7, \\\"maxbackups\\\": 2}\"")
                .log()
                .rotation())
        .contains(new NodeSettings.LogRotation(7, 0, 2, false));
    assertThat(settings("log.outputs = [x]", "log.rotate = true").log().rotation())
        .contains(new NodeSettings.LogRotation(100, 0, 0, false));
    assertThatThrownBy(() -> settings("log.rotate = true"))
        .hasMessageContaining("log.outputs")
        .hasMessageContaining("one file");
    assertThatThrownBy(() -> settings("log.outputs = [a, b]", "log.rotate = true"))
        .hasMessageContaining("one file");
    assertThatThrownBy(
            () -> settings("log.outputs = [a]", "log.rotate = true", "log.rotation = \"{\""))
        .hasMessageContaining("log.rotation");
  }

  @Test
  void slowRequestsHaveLimits() {
    assertThat(settings().slow())
        .isEqualTo(new NodeSettings.Slow(Duration.ofMillis(100), Duration.ofMillis(300)));
    assertThat(settings("warning-apply-duration = 1000 ns").slow().apply())
        .isEqualTo(Duration.ofNanos(1000));
  }

  /** All members must agree on it, and they know the URLs in the order of their text only. */
  @Test
  void ofSeveralPeerUrlsTheFirstAsTextIsUsed() {
    NodeSettings several =
        settings(
            "initial-advertise-peer-urls = [\"http://b:1\", \"http://a:1\"]",
            "listen-peer-urls = [\"http://b:1\", \"http://a:1\"]");
    assertThat(several.peerUrl()).isEqualTo("http://a:1");
    assertThat(several.boundPeerUrl()).isEqualTo("http://a:1");
    NodeSettings proxied =
        settings(
            "initial-advertise-peer-urls = [\"http://b:1\", \"http://a:1\"]",
            "listen-peer-urls = [\"http://0.0.0.0:7\", \"http://0.0.0.0:5\"]");
    assertThat(proxied.boundPeerUrl()).isEqualTo("http://0.0.0.0:7");
  }
}
