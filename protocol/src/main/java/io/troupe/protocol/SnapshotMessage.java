package io.troupe.protocol;

import io.troupe.model.Bytes;

/**
 * The transfer of a snapshot from a leader to a follower. Immutable. Loss, repetition and
 * reordering are harmless: every message contains its position.
 */
public sealed interface SnapshotMessage extends PeerPayload {
  /** Distinguishes the transfers of one sender. */
  long transfer();

  /**
   * The leader has a snapshot and queries which part of it the receiver lacks. Repeated until a
   * reply arrives.
   *
   * @param term term of the leader
   * @param manifest encoded manifest of the snapshot (docs/formats/snapshot-manifest.md)
   */
  record Offer(long transfer, long term, Bytes manifest) implements SnapshotMessage {}

  /**
   * The receiver has everything before this position: the reply to an offer, and the
   * acknowledgement of a chunk.
   *
   * @param file position in the manifest's list, from 0; the length of the list if the snapshot is
   *     complete
   * @param offset byte in that file
   */
  record Have(long transfer, int file, long offset) implements SnapshotMessage {}

  /**
   * A piece of a file.
   *
   * @param crc32c of {@code data}
   */
  record Chunk(long transfer, int file, long offset, Bytes data, int crc32c)
      implements SnapshotMessage {}

  /**
   * The receiver has stored and checked the snapshot and passed it to its raft actor, or it stops
   * the transfer.
   *
   * @param reason for the log, empty if ok
   */
  record Finished(long transfer, boolean ok, String reason) implements SnapshotMessage {}
}
