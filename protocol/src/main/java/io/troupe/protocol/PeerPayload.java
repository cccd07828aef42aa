package io.troupe.protocol;

import io.troupe.raft.PeerMessage;

/** What one member tells another. Immutable. */
public sealed interface PeerPayload permits PeerPayload.Raft, PeerPayload.Hello, SnapshotMessage {
  /** A message between the raft rooms. */
  record Raft(PeerMessage message) implements PeerPayload {}

  /** The sender is there: it has just started, or heard nothing from the receiver for a while. */
  record Hello() implements PeerPayload {}
}
