package io.troupe.node.tls;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Resolver queries about the address that a certificate comes from. May block for long. */
interface NameLookup {
  /**
   * Returns the names of an address, at least one.
   *
   * @throws UnknownHostException if it has none, or without a response; the message names the host
   */
  List<String> names(InetAddress address) throws UnknownHostException;

  /**
   * Returns the addresses of a name, at least one.
   *
   * @throws UnknownHostException if it has none, or without a response; the message names the host
   */
  List<InetAddress> addresses(String name) throws UnknownHostException;
}
