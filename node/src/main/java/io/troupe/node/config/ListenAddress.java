package io.troupe.node.config;

import java.net.URI;

/** Compares the addresses of URLs, independent of the scheme. */
public final class ListenAddress {
  private ListenAddress() {}

  /** Returns true if both name the same port or file. Port 0 is a different port for each URL. */
  public static boolean isSame(URI one, URI other) {
    if (SocketUrl.is(one) || SocketUrl.is(other)) {
      return SocketUrl.is(one)
          && SocketUrl.is(other)
          && SocketUrl.path(one).equals(SocketUrl.path(other));
    }
    return one.getPort() != 0 && one.getAuthority().equals(other.getAuthority());
  }
}
