package io.troupe.node.tls;

/** Who is at the other end must not change while a connection stands. */
final class Renegotiation {
  private Renegotiation() {}

  /**
   * Forbids clients to ask for it. The JDK reads that once, with its first connection: code that
   * makes connections with TLS calls this before, also if they are outgoing.
   */
  static void refuse() {
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
  }
}
