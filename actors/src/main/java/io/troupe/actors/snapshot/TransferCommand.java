package io.troupe.actors.snapshot;

import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.SnapshotMessage;
import org.apache.pekko.actor.typed.ActorRef;

/** Messages of the transfer actor. */
public sealed interface TransferCommand {
  /**
   * Sends a snapshot to a follower. Replaces a transfer in progress to the same follower.
   *
   * @param transfer number of the transfer for the raft and snapshot actors
   * @param term term of this leader
   * @param replyTo receives {@link SnapshotActor.TransferEnded}
   */
  record Start(
      NodeId to, long transfer, long term, SnapshotRef snapshot, ActorRef<SnapshotCommand> replyTo)
      implements TransferCommand {}

  /** A message of another member's transfer actor. */
  record FromPeer(NodeId from, SnapshotMessage message, Runnable handled)
      implements TransferCommand {}

  /**
   * Discards the received part of another member's snapshot if its index is at most {@code upTo},
   * because the state includes it. Ignored while a transfer is in progress.
   *
   * @param diskIsLow also discard the received part of a later one
   */
  record Discard(long upTo, boolean diskIsLow) implements TransferCommand {}

  /** Messages that the actor sends to itself. */
  non-sealed interface Private extends TransferCommand {}
}
