package io.troupe.protocol;

import io.troupe.raft.PeerMessage;

/** What one member tells another. Immutable. */
public sealed interface PeerPayload
    permits PeerPayload.Raft, PeerPayload.Hello, PeerPayload.StateDigest, SnapshotMessage {
  /** A message between the raft actors. */
  record Raft(PeerMessage message) implements PeerPayload {}

  /**
   * What a leader's state did up to an entry, as one number (docs/components/apply.md). Counts only for
   * members that follow the sender in this term: what another one has may belong to another history
   * of the cluster.
   *
   * @param term in which the sender leads; 0 from a version that does not say it
   * @param index an applied index of the sender
   * @param digest of the state as of there
   */
  record StateDigest(long term, long index, long digest) implements PeerPayload {}

  /** The sender is there: it has just started, or heard nothing from the receiver for a while. */
  record Hello() implements PeerPayload {}
}
