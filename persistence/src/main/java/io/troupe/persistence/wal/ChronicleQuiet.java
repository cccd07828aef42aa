package io.troupe.persistence.wal;

import net.openhft.chronicle.core.Jvm;
import net.openhft.posix.PosixAPI;

/**
 * Turns off what Chronicle does besides writing: its own system calls, its banner, its disk space
 * thread, its timing remarks and any usage report. Warnings and errors stay on.
 */
final class ChronicleQuiet {
  static {
    setDefault("chronicle.announcer.disable", "true");
    setDefault("chronicle.analytics.disable", "true");
    setDefault("chronicle.disk.monitor.disable", "true");
    // Chronicle's own system calls (msync, madvise) are not used here, and the library that it
    // makes
    // them with compiles itself again in each process: a tenth of a second of the start.
    PosixAPI.useNoOpPosixApi();
    Jvm.disablePerfHandler();
    Jvm.disableDebugHandler();
  }

  private ChronicleQuiet() {}

  /** Call before the first use of Chronicle: the properties count when its classes load. */
  static void ensure() {
    // The work is in the static block: once, and before anything else of Chronicle.
  }

  private static void setDefault(String key, String value) {
    if (System.getProperty(key) == null) {
      System.setProperty(key, value);
    }
  }
}
