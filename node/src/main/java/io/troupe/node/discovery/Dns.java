package io.troupe.node.discovery;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;

/** DNS queries of discovery. */
interface Dns {
  /**
   * One SRV record.
   *
   * @param host without a dot at its end
   */
  record Target(String host, int port) {}

  /**
   * Returns the records of a name; none if the name does not exist.
   *
   * @throws IOException without a valid response: the records are unknown
   */
  List<Target> srv(String name) throws IOException;

  /** Returns the addresses of a host; none if it has none or the lookup fails. */
  Set<InetAddress> addresses(String host);
}
