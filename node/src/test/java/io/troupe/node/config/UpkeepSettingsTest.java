package io.troupe.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.node.config.FeatureGates.Feature;
import io.troupe.server.UpkeepSettings;
import io.troupe.server.UpkeepSettings.Retention;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings of periodic maintenance (sections 2.16, 4.3). */
class UpkeepSettingsTest {
  private static UpkeepSettings upkeep(String... lines) {
    return settings(lines).upkeep();
  }

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

  private static Retention retention(String mode, String text) {
    return upkeep("auto-compaction-mode = " + mode, "auto-compaction-retention = \"" + text + "\"")
        .retention();
  }

  @Test
  void maintenanceIsOffByDefault() {
    assertThat(upkeep()).isEqualTo(UpkeepSettings.NONE);
  }

  @Test
  void periodicRetentionIsHoursOrDuration_AC1() {
    assertThat(retention("periodic", "2")).isEqualTo(new Retention.Time(Duration.ofHours(2)));
    assertThat(retention("periodic", "1h30m"))
        .isEqualTo(new Retention.Time(Duration.ofMinutes(90)));
    assertThat(retention("periodic", "0")).isEqualTo(Retention.Forever.INSTANCE);
    assertThat(retention("periodic", "0s")).isEqualTo(Retention.Forever.INSTANCE);
  }

  @Test
  void revisionRetentionTreatsDurationAsNanoseconds_AC2() {
    assertThat(retention("revision", "1000")).isEqualTo(new Retention.Revisions(1000));
    assertThat(retention("revision", "5us")).isEqualTo(new Retention.Revisions(5000));
    assertThat(retention("revision", "0")).isEqualTo(Retention.Forever.INSTANCE);
    assertThat(retention("revision", "9223372036854775807"))
        .isEqualTo(new Retention.Revisions(Long.MAX_VALUE));
    assertThat(retention("revision", "+7")).isEqualTo(new Retention.Revisions(7));
    assertThatThrownBy(() -> retention("revision", "9223372036854775808"))
        .hasMessageContaining("troupe.auto-compaction-retention");
  }

  @Test
  void unknownModesStopStart_AC3() {
    assertThatThrownBy(() -> retention("never", "1"))
        .hasMessageContaining("troupe.auto-compaction-mode");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "-1", "-1h", "1 h"})
  void invalidRetentionsStopStart(String text) {
    assertThatThrownBy(() -> retention("periodic", text))
        .hasMessageContaining("troupe.auto-compaction-retention");
  }

  @Test
  void featuresTurnChecksOn() {
    assertThat(upkeep("feature-gates = \"CompactHashCheck=true\"").compactHashCheckTime())
        .isEqualTo(Duration.ofMinutes(1));
    assertThat(upkeep("feature-gates = \"InitialCorruptCheck=true,CompactHashCheck=false\""))
        .isEqualTo(
            new UpkeepSettings(Retention.Forever.INSTANCE, Duration.ZERO, Duration.ZERO, true));
    assertThat(
            upkeep("corrupt-check-time = 1 hour", "feature-gates = \"AllBeta=true\"")
                .corruptCheckTime())
        .isEqualTo(Duration.ofHours(1));
  }

  /** The values of etcd_server_feature_enabled (section 4.3). */
  @Test
  void featuresReportStateAndStage() {
    Map<List<String>, Double> told = new HashMap<>();
    FeatureGates.of("CompactHashCheck=true,FastLeaseKeepAlive=false,AllBeta=true")
        .report((value, labels) -> told.put(List.of(labels), value));
    assertThat(told)
        .hasSize(11)
        .containsEntry(List.of("AllAlpha", "ALPHA"), 0.0)
        .containsEntry(List.of("AllBeta", "BETA"), 1.0)
        .containsEntry(List.of("CompactHashCheck", "ALPHA"), 1.0)
        .containsEntry(List.of("FastLeaseKeepAlive", "BETA"), 0.0)
        .containsEntry(List.of("TxnModeWriteWithSharedBuffer", "BETA"), 1.0)
        .containsEntry(List.of("PriorityRequest", "ALPHA"), 0.0);
  }

  @Test
  void featuresReachActors_L12_Q6() {
    NodeSettings without = settings();
    assertThat(DerivedSettings.member(without).checkpointLeasesEvery()).isZero();
    assertThat(DerivedSettings.member(without).priorityRevokes()).isFalse();
    assertThat(DerivedSettings.gateway(without).priorityRevokes()).isFalse();
    NodeSettings with = settings("feature-gates = \"AllAlpha=true\"");
    assertThat(DerivedSettings.member(with).checkpointLeasesEvery())
        .isEqualTo(Duration.ofMinutes(5));
    assertThat(DerivedSettings.member(with).priorityRevokes()).isTrue();
    assertThat(DerivedSettings.gateway(with).priorityRevokes()).isTrue();
  }

  /** Section 4.3: a stage applies to the features that are not named. */
  @Test
  void stagesApplyToUnnamedFeatures() {
    FeatureGates alpha = FeatureGates.of("PriorityRequest=false,AllAlpha=true");
    assertThat(alpha.isOn(Feature.LeaseCheckpoint)).isTrue();
    assertThat(alpha.isOn(Feature.LeaseCheckpointPersist)).isTrue();
    assertThat(alpha.isOn(Feature.PriorityRequest)).isFalse();
    assertThat(alpha.isOn(Feature.FastLeaseKeepAlive)).isTrue();
    FeatureGates beta = FeatureGates.of("AllBeta=false,FastLeaseKeepAlive=true");
    assertThat(beta.isOn(Feature.TxnModeWriteWithSharedBuffer)).isFalse();
    assertThat(beta.isOn(Feature.FastLeaseKeepAlive)).isTrue();
    assertThat(FeatureGates.of("").isOn(Feature.TxnModeWriteWithSharedBuffer)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "NoSuch=true",
        "CompactHashCheck",
        "CompactHashCheck=on",
        "LeaseCheckpointPersist=true",
        "AllAlpha=true,LeaseCheckpoint=false"
      })
  void invalidFeaturesStopStart(String gates) {
    assertThatThrownBy(() -> upkeep("feature-gates = \"" + gates + "\""))
        .hasMessageContaining("troupe.feature-gates");
  }
}
