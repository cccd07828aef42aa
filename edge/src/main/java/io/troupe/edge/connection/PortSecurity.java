package io.troupe.edge.connection;

import java.util.Optional;

/**
 * TLS of a port.
 *
 * @param tls empty without TLS
 * @param plainToo whether clients may also connect without TLS; then the first byte of a connection
 *     decides (T2)
 */
public record PortSecurity(Optional<ConnectionSecurity> tls, boolean plainToo) {
  /** Checks that the port serves some clients. */
  public PortSecurity {
    if (tls.isEmpty() && !plainToo) {
      throw new IllegalArgumentException("a port without TLS must accept connections without TLS");
    }
  }

  /** Without TLS only. */
  public static PortSecurity none() {
    return new PortSecurity(Optional.empty(), true);
  }

  /** With TLS only. */
  public static PortSecurity of(ConnectionSecurity tls) {
    return new PortSecurity(Optional.of(tls), false);
  }

  /** With and without TLS on one address. */
  public static PortSecurity either(ConnectionSecurity tls) {
    return new PortSecurity(Optional.of(tls), true);
  }
}
