package io.troupe.node;

import io.troupe.metrics.LabelledValues;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * What can be turned on by name (4.3).
 *
 * @param states of all features
 * @param allAlpha what was said of alpha features at large
 * @param allBeta the same of beta features
 */
record FeatureGates(Map<Feature, Boolean> states, boolean allAlpha, boolean allBeta) {
  /** What is right. */
  static final String FORM =
      "Name=true,Other=false with names of docs/flags.md, of which those that are not built are"
          + " false";

  /** With etcd's names. */
  enum Feature {
    StopGRPCServiceOnDefrag(false, true),
    InitialCorruptCheck(false, true),
    CompactHashCheck(false, true),
    TxnModeWriteWithSharedBuffer(true, true),
    LeaseCheckpoint(false, false),
    LeaseCheckpointPersist(false, false),
    SetMemberLocalAddr(false, true),
    FastLeaseKeepAlive(true, true),
    PriorityRequest(false, false);

    /** State without a word of anybody. Beta features are on, alpha features are off. */
    final boolean standard;

    /** Whether it may be on: it is built, or has nothing to do here. */
    final boolean possible;

    Feature(boolean standard, boolean possible) {
      this.standard = standard;
      this.possible = possible;
    }
  }

  /**
   * Reads.
   *
   * @throws IllegalArgumentException for unknown names and states, and for what is not built
   */
  static FeatureGates of(String text) {
    Map<Feature, Boolean> given = new EnumMap<>(Feature.class);
    boolean allAlpha = false;
    boolean allBeta = false;
    for (String part : text.split(",", -1)) {
      if (part.isBlank()) {
        continue;
      }
      int equals = part.indexOf('=');
      String name = equals < 0 ? part.trim() : part.substring(0, equals).trim();
      boolean on = state(equals < 0 ? "" : part.substring(equals + 1).trim());
      switch (name) {
        case "AllAlpha" -> allAlpha = on;
        case "AllBeta" -> allBeta = on;
        default -> given.put(Feature.valueOf(name), on);
      }
    }
    Map<Feature, Boolean> states = new EnumMap<>(Feature.class);
    for (Feature feature : Feature.values()) {
      boolean byStage = feature.standard ? feature.standard || allBeta : allAlpha;
      boolean on = given.getOrDefault(feature, byStage);
      if (on && !feature.possible) {
        throw new IllegalArgumentException(feature + " is not built");
      }
      states.put(feature, on);
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

  /** Tells 1 or 0 of each, with its name and stage as etcd writes them (4.3). */
  void tell(LabelledValues.Target target) {
    target.value(allAlpha ? 1 : 0, "AllAlpha", "ALPHA");
    target.value(allBeta ? 1 : 0, "AllBeta", "BETA");
    states.forEach(
        (feature, on) ->
            target.value(on ? 1 : 0, feature.name(), feature.standard ? "BETA" : "ALPHA"));
  }

  boolean isOn(Feature feature) {
    return states.getOrDefault(feature, false);
  }
}
