package io.troupe.node.process;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/** Locks memory on Linux. */
final class LinuxMemory implements MemoryLock.Kernel {
  /** MCL_CURRENT, MCL_FUTURE, MCL_ONFAULT of Linux 4.4 and later on x64 and arm64. */
  private static final int ALL_WHEN_USED = 1 | 2 | 4;

  private static final int CAP_IPC_LOCK = 14;

  private static final Set<String> KNOWN = Set.of("amd64", "aarch64");

  /** The C library. */
  interface C extends Library {
    int mlockall(int flags) throws LastErrorException;
  }

  @Override
  public String missing() {
    String system = System.getProperty("os.name", "");
    String machine = System.getProperty("os.arch", "");
    if (!system.toLowerCase(Locale.ROOT).equals("linux") || !KNOWN.contains(machine)) {
      return "memory cannot be locked on " + system + " " + machine;
    }
    return "";
  }

  @Override
  public boolean isUnlimited() {
    long rights = Long.parseUnsignedLong(line("/proc/self/status", "CapEff:"), 16);
    // Capabilities in a separate user namespace have no effect here.
    boolean counts = line("/proc/self/uid_map", "").endsWith(" 4294967295");
    return (counts && (rights & (1L << CAP_IPC_LOCK)) != 0)
        || line("/proc/self/limits", "Max locked memory").startsWith("unlimited");
  }

  @Override
  public int lockAll() {
    try {
      return Native.load("c", C.class).mlockall(ALL_WHEN_USED);
    } catch (LastErrorException failed) {
      return failed.getErrorCode();
    } catch (UnsatisfiedLinkError broken) {
      throw new StartException(
          ExitCode.UNEXPECTED, "troupe.memory-mlock: cannot call the C library: " + broken, broken);
    }
  }

  @Override
  public String locked() {
    return line("/proc/self/status", "VmLck:");
  }

  /** Returns the text after that name in the file. */
  private static String line(String file, String name) {
    try {
      for (String each : Files.readAllLines(Path.of(file))) {
        if (each.startsWith(name)) {
          return each.substring(name.length()).trim();
        }
      }
    } catch (IOException e) {
      throw new StartException(ExitCode.UNEXPECTED, "cannot read " + file + ": " + e, e);
    }
    throw new StartException(ExitCode.UNEXPECTED, file + " has no " + name);
  }
}
