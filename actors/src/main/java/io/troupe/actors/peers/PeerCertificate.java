package io.troupe.actors.peers;

/** Whom the other side of a connection may speak for (docs/decisions/0166). */
interface PeerCertificate {
  /** For everybody: nothing is bound, or there is no certificate. */
  PeerCertificate ANY = host -> true;

  /**
   * Whether it is for that host.
   *
   * @param host a DNS name or an address, without brackets
   */
  boolean isFor(String host);
}
