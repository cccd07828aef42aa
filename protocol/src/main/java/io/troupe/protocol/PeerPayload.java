package io.troupe.protocol;

import io.troupe.raft.PeerMessage;

/** Content of a message between members. Immutable. */
public sealed interface PeerPayload
    permits PeerPayload.Raft, PeerPayload.Hello, PeerPayload.StateDigest, SnapshotMessage {
  /** A message between the raft actors. */
  record Raft(PeerMessage message) implements PeerPayload {}

  /**
   * Digest of a leader's state at an entry (docs/components/apply.md). Valid only for members that
   * follow the sender in this term: the digest of any other member may belong to another history of
   * the cluster.
   *
   * @param term term in which the sender leads; 0 from a version without this field
   * @param index an applied index of the sender
   * @param digest digest of the state at that index
   */
  record StateDigest(long term, long index, long digest) implements PeerPayload {}

  /**
   * The sender is running: it has just started, or received nothing from the receiver for a while.
   */
  record Hello() implements PeerPayload {}
}
