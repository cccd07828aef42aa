package io.troupe.edge.connection;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** The address of a port for the log. */
public final class ListenerAddress {
  private ListenerAddress() {}

  /**
   * Host and port. All interfaces are {@code 0.0.0.0}, whether or not one socket serves both
   * address families; the JDK would print such a socket as {@code 0:0:0:0:0:0:0:0}.
   */
  public static String text(InetSocketAddress address) {
    InetAddress host = address.getAddress();
    String text = host.getHostAddress();
    if (host.isAnyLocalAddress()) {
      text = "0.0.0.0";
    } else if (host instanceof Inet6Address) {
      text = "[" + text + "]";
    }
    return text + ":" + address.getPort();
  }
}
