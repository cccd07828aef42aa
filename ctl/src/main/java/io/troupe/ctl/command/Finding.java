package io.troupe.ctl.command;

/**
 * A result of the examination by {@code ctl doctor}.
 *
 * @param level how serious it is
 * @param subject the endpoint, the file or the cluster
 * @param text what was found
 * @param remedy what to do; empty if nothing
 */
record Finding(Level level, String subject, String text, String remedy) {
  /** Levels in the order of their seriousness. */
  enum Level {
    OK,
    WARN,
    FAIL
  }

  static Finding ok(String subject, String text) {
    return new Finding(Level.OK, subject, text, "");
  }

  static Finding warn(String subject, String text, String remedy) {
    return new Finding(Level.WARN, subject, text, remedy);
  }

  static Finding fail(String subject, String text, String remedy) {
    return new Finding(Level.FAIL, subject, text, remedy);
  }
}
