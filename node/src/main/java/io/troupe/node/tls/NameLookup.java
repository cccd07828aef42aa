package io.troupe.node.tls;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** What a resolver is asked about the address that a certificate comes from. May wait for long. */
interface NameLookup {
  /**
   * The names of an address, at least one.
   *
   * @throws UnknownHostException if it has none, or without a reply; names the host
   */
  List<String> names(InetAddress address) throws UnknownHostException;

  /**
   * The addresses of a name, at least one.
   *
   * @throws UnknownHostException if it has none, or without a reply; names the host
   */
  List<InetAddress> addresses(String name) throws UnknownHostException;
}
