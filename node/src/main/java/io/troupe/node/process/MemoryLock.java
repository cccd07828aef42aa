package io.troupe.node.process;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prevents the memory of this process from being swapped out: a member that waits for its swapped
 * heap misses its heartbeats. The lock applies to the whole process until it exits.
 */
public final class MemoryLock {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryLock.class);

  private static final String ADVICE =
      "expected no limit of locked memory (LimitMEMLOCK=infinity in a systemd unit, \"ulimit -l"
          + " unlimited\", \"--ulimit memlock=-1\" of a container), or the capability"
          + " CAP_IPC_LOCK";

  /** The calls to the kernel. */
  interface Kernel {
    /** Returns why this platform cannot lock memory; empty if it can. */
    String missing();

    /**
     * Returns true if this process may lock any amount of memory. With a limit a later mapping
     * would fail, and the JVM would exit.
     */
    boolean isUnlimited();

    /**
     * Locks each mapped page, and each future page from its first use on.
     *
     * @return 0, or the error number
     */
    int lockAll();

    /** Returns how much memory is locked, for the log. */
    String locked();
  }

  private MemoryLock() {}

  /**
   * Locks the memory.
   *
   * @throws StartException CONFIGURATION if it cannot be done
   */
  public static void hold() {
    hold(new LinuxMemory());
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
    LOG.info("locked process memory locked={}", kernel.locked());
  }

  private static StartException refused(String why, String right) {
    return new StartException(
        ExitCode.CONFIGURATION,
        "configuration: troupe.memory-mlock = \"true\" is wrong: " + why + ": " + right);
  }
}
