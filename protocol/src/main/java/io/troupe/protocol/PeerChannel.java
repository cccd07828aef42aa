package io.troupe.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Kinds of connections between members. Each has its own connection, so that Raft messages never
 * wait for snapshots or queries.
 */
public enum PeerChannel {
  /** Messages of the raft actors, digests and hellos. */
  RAFT(1),
  /** Snapshot transfers. */
  SNAPSHOT(2),
  /** Queries outside of Raft, and their replies. */
  QUERY(3);

  private final int number;

  PeerChannel(int number) {
    this.number = number;
  }

  /** Number on the wire; at least 1. */
  public int number() {
    return number;
  }

  /** The channel with that number, or null. */
  public static @Nullable PeerChannel of(int number) {
    for (PeerChannel channel : values()) {
      if (channel.number == number) {
        return channel;
      }
    }
    return null;
  }
}
