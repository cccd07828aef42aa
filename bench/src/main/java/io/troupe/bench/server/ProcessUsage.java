package io.troupe.bench.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The resources that a process has used, from /proc.
 *
 * @param cpuSeconds user and system time of all threads since its start
 * @param rssBytes resident memory now
 * @param peakRssBytes maximum resident memory
 */
public record ProcessUsage(double cpuSeconds, long rssBytes, long peakRssBytes) {
  /** The usage of a process that cannot be read. */
  public static final ProcessUsage UNKNOWN = new ProcessUsage(Double.NaN, -1, -1);

  // Linux reports times in 1/100 s to all programs (USER_HZ), regardless of the kernel's tick.
  private static final double TICKS_PER_SECOND = 100.0;

  /**
   * Reads the usage of a process.
   *
   * @throws UncheckedIOException if there is no such process
   */
  public static ProcessUsage of(long pid) {
    try {
      Path proc = Path.of("/proc", Long.toString(pid));
      return parse(
          Files.readString(proc.resolve("stat")), Files.readAllLines(proc.resolve("status")));
    } catch (IOException e) {
      throw new UncheckedIOException("process " + pid, e);
    }
  }

  static ProcessUsage parse(String stat, List<String> status) {
    // The second field is the name in parentheses and may contain any character, including blanks.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).trim().split(" ", -1);
    double ticks = Double.parseDouble(fields[11]) + Double.parseDouble(fields[12]);
    return new ProcessUsage(
        ticks / TICKS_PER_SECOND, kilobytes(status, "VmRSS:"), kilobytes(status, "VmHWM:"));
  }

  private static long kilobytes(List<String> status, String name) {
    for (String line : status) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.substring(name.length()).replace("kB", "").trim()) * 1024;
      }
    }
    return -1;
  }
}
