package io.troupe.node.config;

import io.troupe.metrics.LabelledValues;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Features that are switched on or off by name (4.3).
 *
 * @param states of all features
 * @param allAlpha value of {@code AllAlpha}
 * @param allBeta value of {@code AllBeta}
 */
public record FeatureGates(Map<Feature, Boolean> states, boolean allAlpha, boolean allBeta) {
  /** The valid form, for error texts. */
  static final String FORM =
      "Name=true,Other=false with names of docs/flags.md; LeaseCheckpointPersist only with"
          + " LeaseCheckpoint";

  /** With etcd's names. */
  public enum Feature {
    StopGRPCServiceOnDefrag(false),
    InitialCorruptCheck(false),
    CompactHashCheck(false),
    TxnModeWriteWithSharedBuffer(true),
    LeaseCheckpoint(false),
    LeaseCheckpointPersist(false),
    SetMemberLocalAddr(false),
    FastLeaseKeepAlive(true),
    PriorityRequest(false);

    /** The state without a setting. Beta features are on, alpha features are off. */
    final boolean standard;

    Feature(boolean standard) {
      this.standard = standard;
    }
  }

  /**
   * Parses the setting.
   *
   * @throws IllegalArgumentException for unknown names and states, and for a feature that requires
   *     another one that is off (F7)
   */
  static FeatureGates of(String text) {
    Map<Feature, Boolean> given = new EnumMap<>(Feature.class);
    boolean allAlpha = false;
    boolean allBeta = false;
    boolean beta = true;
    for (String part : text.split(",", -1)) {
      if (part.isBlank()) {
        continue;
      }
      int equals = part.indexOf('=');
      String name = equals < 0 ? part.trim() : part.substring(0, equals).trim();
      boolean on = state(equals < 0 ? "" : part.substring(equals + 1).trim());
      switch (name) {
        case "AllAlpha" -> allAlpha = on;
        case "AllBeta" -> {
          allBeta = on;
          beta = on;
        }
        default -> given.put(Feature.valueOf(name), on);
      }
    }
    Map<Feature, Boolean> states = new EnumMap<>(Feature.class);
    for (Feature feature : Feature.values()) {
      boolean byStage = feature.standard ? beta : allAlpha;
      states.put(feature, given.getOrDefault(feature, byStage));
    }
    if (isOn(states, Feature.LeaseCheckpointPersist) && !isOn(states, Feature.LeaseCheckpoint)) {
      throw new IllegalArgumentException(
          "enabling feature gate LeaseCheckpointPersist requires enabling feature gate"
              + " LeaseCheckpoint");
    }
    return new FeatureGates(Collections.unmodifiableMap(states), allAlpha, allBeta);
  }

  private static boolean state(String text) {
    return switch (text) {
      case "true", "1", "t", "T", "TRUE", "True" -> true;
      case "false", "0", "f", "F", "FALSE", "False" -> false;
      default -> throw new IllegalArgumentException("no state: " + text);
    };
  }

  /** Reports 1 or 0 for each feature, with its name and stage as etcd writes them (4.3). */
  public void report(LabelledValues.Target target) {
    target.value(allAlpha ? 1 : 0, "AllAlpha", "ALPHA");
    target.value(allBeta ? 1 : 0, "AllBeta", "BETA");
    states.forEach(
        (feature, on) ->
            target.value(on ? 1 : 0, feature.name(), feature.standard ? "BETA" : "ALPHA"));
  }

  public boolean isOn(Feature feature) {
    return isOn(states, feature);
  }

  private static boolean isOn(Map<Feature, Boolean> states, Feature feature) {
    return states.getOrDefault(feature, false);
  }
}
