package io.troupe.actors.peers;

/** The members that the other side of a connection may act for (docs/decisions/0166). */
interface PeerCertificate {
  /** Valid for every host: certificates are not bound to hosts, or there is no certificate. */
  PeerCertificate ANY = host -> true;

  /**
   * Whether it is for that host.
   *
   * @param host a DNS name or an address, without brackets
   */
  boolean isFor(String host);
}
