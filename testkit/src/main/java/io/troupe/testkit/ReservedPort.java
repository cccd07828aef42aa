package io.troupe.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * A port of 127.0.0.1 that one member keeps while it runs and while it is stopped.
 *
 * <p>On Linux a bound socket that does not listen holds the port: the kernel gives it to no other
 * process and to no outgoing connection, but the member can listen on it, because both sockets
 * permit the reuse of the address. On other systems the port is only known to be free, and the
 * start of a member is repeated with other ports if a process takes it first.
 */
final class ReservedPort implements AutoCloseable {
  private static final boolean CAN_HOLD = System.getProperty("os.name", "").equals("Linux");

  /** Supplies ports; tests replace it. */
  @FunctionalInterface
  interface Source {
    /** Reserves a port. */
    ReservedPort open() throws IOException;
  }

  private final SocketChannel holder;
  private final int number;

  private ReservedPort(SocketChannel holder, int number) {
    this.holder = holder;
    this.number = number;
  }

  /** Reserves a port that no other process uses. */
  static ReservedPort open() throws IOException {
    SocketChannel holder = SocketChannel.open(StandardProtocolFamily.INET);
    boolean reserved = false;
    try {
      // Bound without reuse: the kernel selects a port that no other socket is bound to.
      holder.setOption(StandardSocketOptions.SO_REUSEADDR, false);
      holder.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0));
      int number = ((InetSocketAddress) holder.getLocalAddress()).getPort();
      if (CAN_HOLD) {
        holder.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        reserved = true;
      }
      return new ReservedPort(holder, number);
    } finally {
      if (!reserved) {
        holder.close();
      }
    }
  }

  int number() {
    return number;
  }

  String url() {
    return "http://127.0.0.1:" + number;
  }

  @Override
  public void close() throws IOException {
    holder.close();
  }
}
