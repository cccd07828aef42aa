package io.troupe.node.flags;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Finds the address at which other machines most likely reach this one: the address of its default
 * route (F8).
 */
final class DefaultHost {
  private static final Path ROUTES = Path.of("/proc/net/route");
  private static final String ANYWHERE = "00000000";

  /** Columns of the table: interface, destination, gateway, flags, two counters, metric, mask. */
  private static final int METRIC = 6;

  private static final int MASK = 7;

  private DefaultHost() {}

  /**
   * Looks up the address. Only works on Linux.
   *
   * @throws IOException if there is no default route, or its interface has no IPv4 address
   */
  static String find() throws IOException {
    String name =
        gate(Files.readAllLines(ROUTES))
            .orElseThrow(() -> new IOException("could not find default route"));
    NetworkInterface gate = NetworkInterface.getByName(name);
    if (gate != null) {
      for (InterfaceAddress bound : gate.getInterfaceAddresses()) {
        InetAddress address = bound.getAddress();
        if (address instanceof Inet4Address) {
          return address.getHostAddress();
        }
      }
    }
    throw new IOException("could not find an address of the default route's interface " + name);
  }

  /**
   * Returns the interface of the default route with the lowest metric.
   *
   * @param table routing table in the form of Linux, with its header
   */
  static Optional<String> gate(List<String> table) {
    return table.stream()
        .skip(1)
        .map(line -> line.trim().split("\\s+", -1))
        .filter(row -> row.length > MASK && row[1].equals(ANYWHERE) && row[MASK].equals(ANYWHERE))
        .min(Comparator.comparingLong(row -> Long.parseLong(row[METRIC])))
        .map(row -> row[0]);
  }
}
