package io.troupe.protocol;

import io.troupe.raft.PeerMessage;

/** What one member tells another. Immutable. */
public sealed interface PeerPayload permits PeerPayload.Raft, SnapshotMessage {
  /** A message between the raft rooms. */
  record Raft(PeerMessage message) implements PeerPayload {}
}
