package io.troupe.protocol;

import io.troupe.model.NodeId;
import io.troupe.raft.PeerMessage;

/**
 * Sends messages to other members. At most once: a message may be lost, delayed, repeated or
 * reordered. Thread-safe.
 */
@FunctionalInterface
public interface PeerTransport {
  /** Sends, or drops. Never blocks. */
  void send(NodeId to, PeerMessage message);
}
