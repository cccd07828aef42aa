package io.troupe.node.flags;

import static io.troupe.node.flags.CommandLines.ends;
import static io.troupe.node.flags.CommandLines.read;
import static io.troupe.node.flags.CommandLines.settings;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Section 4: the values that flags accept, and the settings that they become. */
class EtcdFlagValuesTest {
  @Test
  void valuesWithDifferentMeaningAreConverted() {
    assertThat(
            settings(
                "--log-level=fatal",
                "--log-format=console",
                "--compaction-batch-limit=0",
                "--compaction-sleep-interval=0s",
                "--watch-progress-notify-interval=0",
                "--max-concurrent-streams=4294967295"))
        .containsEntry("troupe.log.level", "error")
        .containsEntry("troupe.log.format", "text")
        .containsEntry("troupe.max-concurrent-streams", "65536")
        .hasSize(5);
  }

  @ParameterizedTest
  @CsvSource({
    "snapshot-count, 0,",
    "max-learners, 0, 0",
    "max-learners, -1, 0",
    "max-txn-ops, 0, 0",
    "max-concurrent-streams, 0, 65536",
    "metrics, foo, basic",
    "metrics, extensive, extensive",
  })
  void valuesAcceptedByEtcdAreAccepted_F7(String flag, String value, @Nullable String here) {
    assertThat(settings("--" + flag + "=" + value).get("troupe." + flag)).isEqualTo(here);
  }

  @ParameterizedTest
  @ValueSource(strings = {"info", "INFO", "Info"})
  void logLevelIgnoresCase_F7(String level) {
    assertThat(settings("--log-level=" + level)).containsEntry("troupe.log.level", "info");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "listen-peer-urls",
        "initial-advertise-peer-urls",
        "advertise-client-urls",
        "listen-metrics-urls"
      })
  void duplicateUrlIsUsedOnce_F7(String flag) {
    assertThat(settings("--" + flag + "=http://127.0.0.1:2,http://127.0.0.1:1, http://127.0.0.1:2"))
        .containsEntry("troupe." + flag, "http://127.0.0.1:2,http://127.0.0.1:1");
  }

  @ParameterizedTest
  @CsvSource({
    "0x10, 16",
    "0X1f, 31",
    "0b1, 1",
    "0B11, 3",
    "0o17, 15",
    "0O7, 7",
    "010, 8",
    "0, 0",
    "1_000, 1000",
    "0x_f, 15",
    "0_7, 7",
  })
  void numbersInGoFormsAreAccepted_F3(String value, String decimal) {
    assertThat(settings("--max-txn-ops", value)).containsEntry("troupe.max-txn-ops", decimal);
    assertThat(settings("--heartbeat-interval", value))
        .containsEntry("troupe.heartbeat-interval", decimal + " ms");
    assertThat(settings("--quota-backend-bytes", "-" + value))
        .containsEntry("troupe.quota-backend-bytes", decimal.equals("0") ? "0" : "-" + decimal);
    assertThat(read(Map.of("ETCD_MAX_TXN_OPS", value)).properties())
        .containsEntry("troupe.max-txn-ops", decimal);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "_1", "1_", "1__0", "08", "0b2", "0o8", "0x", "1e4", "1.0", " 1", "+1", "-1"})
  void invalidNumbersAreRefused_F3(String value) {
    ends(
        2,
        "invalid value \"" + value + "\" for flag -max-txn-ops: parse error",
        "--max-txn-ops",
        value);
  }

  @Test
  void tooLargeNumbersAreRefused_F3() {
    ends(
        2,
        "invalid value \"9223372036854775808\" for flag -quota-backend-bytes: value out of range",
        "--quota-backend-bytes=9223372036854775808");
    ends(
        2,
        "invalid value \"18446744073709551616\" for flag -snapshot-count: value out of range",
        "--snapshot-count=18446744073709551616");
  }

  @Test
  void unixSocketsAreBoundToFiles_F7() {
    assertThat(
            settings(
                "--listen-client-urls=unix://some-file,unixs:///run/a.sock",
                "--advertise-client-urls=unix://some-file"))
        .containsEntry("troupe.listen-client-urls", "unix://some-file,unixs:///run/a.sock");
  }
}
