package io.troupe.node.discovery;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;

/** What discovery asks of name servers. */
interface Dns {
  /**
   * One SRV record.
   *
   * @param host without a dot at its end
   */
  record Target(String host, int port) {}

  /**
   * The records of a name; none if there is no such name.
   *
   * @throws IOException if no server answers, or not as it should: what there is, is not known
   */
  List<Target> srv(String name) throws IOException;

  /** The addresses of a host; none if it has none, or none that is known now. */
  Set<InetAddress> addresses(String host);
}
