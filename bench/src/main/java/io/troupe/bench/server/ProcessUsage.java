package io.troupe.bench.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What a process used so far, from /proc.
 *
 * @param cpuSeconds user and system time of all threads since its start
 * @param rssBytes resident memory now
 * @param peakRssBytes the most it ever was
 */
public record ProcessUsage(double cpuSeconds, long rssBytes, long peakRssBytes) {
  /** What is known of a process that cannot be checked. */
  public static final ProcessUsage UNKNOWN = new ProcessUsage(Double.NaN, -1, -1);

  // Linux shows times in 1/100 s to all programs (USER_HZ), whatever the kernel's own tick is.
  private static final double TICKS_PER_SECOND = 100.0;

  /**
   * Reads it.
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
    // The second field is the name in parentheses and may hold anything, blanks too.
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
