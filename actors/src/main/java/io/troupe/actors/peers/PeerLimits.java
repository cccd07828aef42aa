package io.troupe.actors.peers;

/** Limits of the peer port that settings are checked against. */
public final class PeerLimits {
  /** Longest message, in bytes; a connection with a longer one is closed. */
  public static final int MAX_MESSAGE_BYTES = 256 << 20;

  /** Longest query or reply, in bytes. */
  static final int MAX_QUERY_BYTES = 256 << 10;

  /** Longest reply to a query, without its frame; a longer one is replaced by a refusal. */
  static final int MAX_REPLY_BYTES = 128 << 10;

  private PeerLimits() {}
}
