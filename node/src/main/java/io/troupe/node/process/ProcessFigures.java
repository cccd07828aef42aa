package io.troupe.node.process;

import io.troupe.metrics.MemberMetrics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Process metrics of Linux that the Prometheus client does not have, computed when metrics are
 * read. On other systems there are none.
 */
public final class ProcessFigures {
  private static final Path LIMITS = Path.of("/proc/self/limits");

  /** Counters of the network namespace of the process; Go's client reports the same. */
  private static final Path NETWORK = Path.of("/proc/self/net/netstat");

  private static final String ADDRESS_SPACE = "Max address space";

  /** The value that Go's client reports for no limit. */
  private static final double UNLIMITED = 0x1p64;

  private ProcessFigures() {}

  public static void register(MemberMetrics metrics) {
    if (Files.isReadable(LIMITS)) {
      metrics.gauge(
          "process_virtual_memory_max_bytes",
          "Limit of the virtual memory of the process.",
          () -> addressSpace(lines(LIMITS)));
    }
    if (Files.isReadable(NETWORK)) {
      metrics.counters(
          "process_network_receive_bytes_total",
          "Bytes received over the network by all processes of its namespace.",
          target -> target.value(octets(lines(NETWORK), "InOctets")));
      metrics.counters(
          "process_network_transmit_bytes_total",
          "Bytes sent over the network by all processes of its namespace.",
          target -> target.value(octets(lines(NETWORK), "OutOctets")));
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the soft limit, the first number of its line. */
  static double addressSpace(List<String> limits) {
    String line =
        limits.stream().filter(l -> l.startsWith(ADDRESS_SPACE)).findFirst().orElseThrow();
    String soft = words(line.substring(ADDRESS_SPACE.length())).get(0);
    return soft.equals("unlimited") ? UNLIMITED : Double.parseDouble(soft);
  }

  /**
   * Returns a counter. Two lines begin with the group's name: the first has the names, the second
   * the values.
   */
  static double octets(List<String> netstat, String name) {
    List<String> group = netstat.stream().filter(line -> line.startsWith("IpExt:")).toList();
    int at = words(group.get(0)).indexOf(name);
    return Double.parseDouble(words(group.get(1)).get(at));
  }

  private static List<String> words(String line) {
    return Arrays.asList(line.trim().split("\\s+"));
  }
}
