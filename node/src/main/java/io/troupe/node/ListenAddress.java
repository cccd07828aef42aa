package io.troupe.node;

import java.net.URI;

/** Where a URL listens, whatever its scheme. */
final class ListenAddress {
  private ListenAddress() {}

  /** Whether both name the same port or file. Port 0 is another one for each URL. */
  static boolean isSame(URI one, URI other) {
    if (SocketUrl.is(one) || SocketUrl.is(other)) {
      return SocketUrl.is(one)
          && SocketUrl.is(other)
          && SocketUrl.path(one).equals(SocketUrl.path(other));
    }
    return one.getPort() != 0 && one.getAuthority().equals(other.getAuthority());
  }
}
