package io.troupe.node.flags;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One of etcd's server flags and what becomes of it here.
 *
 * @param defaultText what stands for "not given"
 * @param what for documents: the setting it is, or why it has no effect or is refused
 * @param setting key under {@code troupe}; null unless the fate is SETTING
 * @param harmless values besides the default that ask for nothing that is missing; for REFUSED only
 */
record Flag(
    String name,
    Type type,
    String defaultText,
    Fate fate,
    String what,
    @Nullable String setting,
    Set<String> harmless) {

  /** Form of a value. */
  enum Type {
    /** Any text, or a list with commas. */
    TEXT,
    /** true or false; needs no value. */
    BOOL,
    /** A whole number. */
    NUMBER,
    /** Not negative. */
    UNSIGNED,
    /** See {@link GoDuration}. */
    DURATION,
    /** A whole number of milliseconds. */
    MILLIS,
    /** A whole number of seconds. */
    SECONDS
  }

  /** What becomes of a flag. */
  enum Fate {
    /** It is a setting of this program. */
    SETTING,
    /** Taken, without effect here; the log says so once. */
    NO_EFFECT,
    /** Not built: a value that asks for it ends the start, all else is fine. */
    REFUSED,
    /** etcd itself takes and ignores it. */
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

  /** The environment variable (F1). */
  String variable() {
    return "ETCD_" + name.toUpperCase(java.util.Locale.ROOT).replace('-', '_');
  }

  /**
   * The value in one form, or its refusal.
   *
   * @throws IllegalArgumentException with Go's words for what is wrong
   */
  String checked(String value) {
    switch (type) {
      case BOOL -> {
        return Boolean.toString(bool(value));
      }
      case NUMBER, MILLIS, SECONDS -> number(value);
      case UNSIGNED -> {
        if (number(value) < 0) {
          throw new IllegalArgumentException("parse error");
        }
      }
      case DURATION -> {
        return GoDuration.parse(value).toNanos() + " ns";
      }
      case TEXT -> {
        return value;
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

  private static long number(String value) {
    try {
      return Long.decode(value.startsWith("0x") ? value : stripped(value));
    } catch (NumberFormatException notOne) {
      throw new IllegalArgumentException("parse error", notOne);
    }
  }

  /** Long.decode takes a leading zero for octal, as Go does; "0" alone is none. */
  private static String stripped(String value) {
    return value.trim().equals(value) ? value : "";
  }

  /** True if it asks for something that is not there. */
  boolean asksFor(String checkedValue) {
    return fate == Fate.REFUSED && !isDefault(checkedValue) && !harmless.contains(checkedValue);
  }

  boolean isDefault(String checkedValue) {
    return checkedValue.isEmpty()
        || checkedValue.equals(defaultText)
        || (!defaultText.isEmpty() && checkedValue.equals(checked(defaultText)));
  }
}
