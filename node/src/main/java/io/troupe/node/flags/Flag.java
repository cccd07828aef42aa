package io.troupe.node.flags;

import io.troupe.model.GoDuration;
import java.math.BigInteger;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One of etcd's server flags and how Troupe handles it.
 *
 * @param defaultText value that counts as "not given"
 * @param what for documents: the setting, or why the flag has no effect or is refused
 * @param setting key under {@code troupe}; null unless the fate is SETTING
 * @param harmless values besides the default that require no missing feature; for REFUSED only
 */
record Flag(
    String name,
    Type type,
    String defaultText,
    Fate fate,
    String what,
    @Nullable String setting,
    Set<String> harmless) {

  private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);
  private static final BigInteger MOST_UNSIGNED =
      BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

  /** Valid values of {@code --v2-deprecation}; {@code not-yet} is no longer valid. */
  private static final Set<String> V2_STAGES =
      Set.of("write-only", "write-only-skip-check", "write-only-drop-data", "gone");

  /** Form of a value. */
  enum Type {
    /** Any text, or a list with commas. */
    TEXT,
    /** See {@link UrlList}. */
    URLS,
    /** State of the cluster at the first start: new or existing. */
    CLUSTER_STATE,
    /** Names of {@link #V2_STAGES} with commas; in a file etcd does not check them. */
    V2_STAGE,
    /** true or false; needs no value. */
    BOOL,
    /** See {@link GoInteger}; 64 bits. */
    NUMBER,
    /** The same, not negative. */
    UNSIGNED,
    /** See {@link GoDuration}. */
    DURATION,
    /** A whole number of milliseconds. */
    MILLIS,
    /** A whole number of seconds. */
    SECONDS
  }

  /** How Troupe handles a flag. */
  enum Fate {
    /** The flag is a setting of Troupe. */
    SETTING,
    /** The flag is accepted without effect, and logged once. */
    NO_EFFECT,
    /**
     * The feature does not exist: a value that requires it fails the start, other values are
     * accepted.
     */
    REFUSED,
    /** etcd itself accepts and ignores the flag. */
    IGNORED
  }

  static Flag setting(String name, Type type, String defaultText) {
    return setting(name, type, defaultText, name);
  }

  static Flag setting(String name, Type type, String defaultText, String key) {
    return new Flag(name, type, defaultText, Fate.SETTING, "troupe." + key, key, Set.of());
  }

  static Flag noEffect(String name, Type type, String defaultText, String why) {
    return new Flag(name, type, defaultText, Fate.NO_EFFECT, why, null, Set.of());
  }

  static Flag refused(String name, Type type, String defaultText, String why, String... harmless) {
    return new Flag(name, type, defaultText, Fate.REFUSED, why, null, Set.of(harmless));
  }

  static Flag ignored(String name) {
    return new Flag(name, Type.BOOL, "", Fate.IGNORED, "etcd ignores it too", null, Set.of());
  }

  /** Returns the environment variable (F1). */
  String variable() {
    return "ETCD_" + name.toUpperCase(java.util.Locale.ROOT).replace('-', '_');
  }

  /**
   * Returns the value in its normal form.
   *
   * @throws IllegalArgumentException with Go's words for what is wrong
   */
  String checked(String value) {
    return switch (type) {
      case BOOL -> Boolean.toString(bool(value));
      case NUMBER -> number(value, LEAST, MOST);
      case UNSIGNED, MILLIS, SECONDS -> unsigned(value);
      case DURATION -> GoDuration.parse(value).toNanos() + " ns";
      case URLS -> UrlList.checked(value);
      case CLUSTER_STATE -> clusterState(value);
      case V2_STAGE -> v2Stage(value);
      case TEXT -> value;
    };
  }

  private static String clusterState(String value) {
    if (!Set.of("", "new", "existing").contains(value)) {
      throw new IllegalArgumentException("invalid value");
    }
    return value;
  }

  private static String v2Stage(String value) {
    for (String stage : value.split(",", -1)) {
      if (!V2_STAGES.contains(stage)) {
        throw new IllegalArgumentException("invalid value \"" + stage + '"');
      }
    }
    return value;
  }

  private static boolean bool(String value) {
    if (Set.of("1", "t", "T", "true", "TRUE", "True").contains(value)) {
      return true;
    }
    if (Set.of("0", "f", "F", "false", "FALSE", "False").contains(value)) {
      return false;
    }
    throw new IllegalArgumentException("parse error");
  }

  /** Parses an unsigned number. */
  private static String unsigned(String value) {
    if (value.startsWith("+") || value.startsWith("-")) {
      throw new IllegalArgumentException("parse error");
    }
    return number(value, BigInteger.ZERO, MOST_UNSIGNED);
  }

  private static String number(String value, BigInteger least, BigInteger most) {
    BigInteger number =
        GoInteger.parse(value).orElseThrow(() -> new IllegalArgumentException("parse error"));
    if (number.compareTo(least) < 0 || number.compareTo(most) > 0) {
      throw new IllegalArgumentException("value out of range");
    }
    return number.toString();
  }

  /** Returns true if the value requires a feature that does not exist. */
  boolean asksFor(String checkedValue) {
    return fate == Fate.REFUSED && !isDefault(checkedValue) && !harmless.contains(checkedValue);
  }

  boolean isDefault(String checkedValue) {
    return checkedValue.isEmpty()
        || checkedValue.equals(defaultText)
        || (!defaultText.isEmpty() && checkedValue.equals(checked(defaultText)));
  }
}
