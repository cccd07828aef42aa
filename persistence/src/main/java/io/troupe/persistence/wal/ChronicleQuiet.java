package io.troupe.persistence.wal;

import net.openhft.chronicle.core.Jvm;
import net.openhft.posix.PosixAPI;

/**
 * Disables everything that Chronicle does in addition to writing: its own system calls, its banner,
 * its disk space thread, its timing messages and any usage report. Warnings and errors stay
 * enabled.
 */
final class ChronicleQuiet {
  static {
    setDefault("chronicle.announcer.disable", "true");
    setDefault("chronicle.analytics.disable", "true");
    setDefault("chronicle.disk.monitor.disable", "true");
    // Chronicle's own system calls (msync, madvise) are not used here, and their library compiles
    // itself again in each process: a tenth of a second of the start.
    PosixAPI.useNoOpPosixApi();
    Jvm.disablePerfHandler();
    Jvm.disableDebugHandler();
  }

  private ChronicleQuiet() {}

  /**
   * Must be called before the first use of Chronicle: the properties are read when its classes
   * load.
   */
  static void ensure() {
    // The static block does the work: once, and before any other class of Chronicle.
  }

  private static void setDefault(String key, String value) {
    if (System.getProperty(key) == null) {
      System.setProperty(key, value);
    }
  }
}
