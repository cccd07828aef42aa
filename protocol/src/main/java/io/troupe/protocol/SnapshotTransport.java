package io.troupe.protocol;

import io.troupe.model.NodeId;

/**
 * Sends messages to other members' snapshot actors, separate from {@link PeerTransport}, so that
 * heartbeats never wait for a snapshot. At most once. Thread-safe.
 */
@FunctionalInterface
public interface SnapshotTransport {
  /** Sends, or drops. Never blocks. */
  void send(NodeId to, SnapshotMessage message);
}
