package io.troupe.node;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the memory of this process from being swapped out: a member that waits for its swapped heap
 * misses its heartbeats. It is the whole process's, and stays until it ends.
 */
final class MemoryLock {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryLock.class);

  private static final String ADVICE =
      "expected no limit of locked memory (LimitMEMLOCK=infinity in a systemd unit, \"ulimit -l"
          + " unlimited\", \"--ulimit memlock=-1\" of a container), or the capability"
          + " CAP_IPC_LOCK";

  /** What the kernel says and does. */
  interface Kernel {
    /** Why memory cannot be locked here at all; empty if it can. */
    String missing();

    /**
     * Whether this process may lock whatever it maps. A limit would be met later, by a mapping that
     * fails, and the JVM would end.
     */
    boolean isUnlimited();

    /**
     * Locks each page that is there, and each one that will be, from its first use on.
     *
     * @return 0, or the number of the error
     */
    int lockAll();

    /** How much is locked, for the log. */
    String locked();
  }

  private MemoryLock() {}

  /**
   * Locks if the settings ask for it.
   *
   * @throws StartException CONFIGURATION if it cannot be done
   */
  static void hold(NodeSettings settings) {
    if (settings.memoryMlock()) {
      hold(new LinuxMemory());
    }
  }

  static void hold(Kernel kernel) {
    String missing = kernel.missing();
    if (!missing.isEmpty()) {
      throw refused(missing, "expected Linux on x64 or arm64");
    }
    if (!kernel.isUnlimited()) {
      throw refused("this process may not lock all of its memory", ADVICE);
    }
    int error = kernel.lockAll();
    if (error != 0) {
      throw refused("mlockall fails with error " + error, ADVICE);
    }
    LOG.info("memory is locked locked={}", kernel.locked());
  }

  private static StartException refused(String why, String right) {
    return new StartException(
        ExitCode.CONFIGURATION,
        "configuration: troupe.memory-mlock = \"true\" is wrong: " + why + ": " + right);
  }
}
