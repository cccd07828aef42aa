package io.troupe.node.tls;

/**
 * Disables TLS renegotiation: the identity of the other side must not change during a connection.
 */
final class Renegotiation {
  private Renegotiation() {}

  /**
   * Refuses renegotiation. The JDK reads the property once, with its first TLS connection: call
   * this before any TLS connection, incoming or outgoing.
   */
  static void refuse() {
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
  }
}
