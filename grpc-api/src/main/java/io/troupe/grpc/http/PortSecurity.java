package io.troupe.grpc.http;

import java.util.Optional;

/**
 * Whether TLS is spoken on a port.
 *
 * @param tls empty: it is not
 * @param plainToo whether clients may also come without it: then the first byte of a connection
 *     decides (T2)
 */
public record PortSecurity(Optional<ConnectionSecurity> tls, boolean plainToo) {
  /** Checks that somebody is served. */
  public PortSecurity {
    if (tls.isEmpty() && !plainToo) {
      throw new IllegalArgumentException("a port without TLS serves clients without it");
    }
  }

  /** Without TLS alone. */
  public static PortSecurity none() {
    return new PortSecurity(Optional.empty(), true);
  }

  /** With TLS alone. */
  public static PortSecurity of(ConnectionSecurity tls) {
    return new PortSecurity(Optional.of(tls), false);
  }

  /** Both at one address. */
  public static PortSecurity either(ConnectionSecurity tls) {
    return new PortSecurity(Optional.of(tls), true);
  }
}
