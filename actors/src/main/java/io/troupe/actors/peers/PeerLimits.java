package io.troupe.actors.peers;

/** Limits of the peer port that settings are checked against. */
public final class PeerLimits {
  /** Longest message, in bytes; longer ones are dropped by the receiver. */
  public static final int MAX_MESSAGE_BYTES = 256 << 20;

  private PeerLimits() {}
}
