package io.troupe.actors.snapshot;

import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.SnapshotMessage;
import org.apache.pekko.actor.typed.ActorRef;

/** What the transfer actor takes. */
public sealed interface TransferCommand {
  /**
   * Brings a snapshot to a follower. One that is in progress to the same follower gives way.
   *
   * @param transfer number of the transfer for the raft and snapshot actors
   * @param term term of this leader
   * @param replyTo receives {@link SnapshotActor.TransferOver}
   */
  record Start(
      NodeId to, long transfer, long term, SnapshotRef snapshot, ActorRef<SnapshotCommand> replyTo)
      implements TransferCommand {}

  /** A message of another member's transfer actor. */
  record FromPeer(NodeId from, SnapshotMessage message, Runnable handled)
      implements TransferCommand {}

  /**
   * What came of another member's snapshot is not needed, if its index is at most {@code upTo}: the
   * state holds all of it. Ignored while one is in flight.
   *
   * @param diskIsLow also remove what came of a later one
   */
  record Discard(long upTo, boolean diskIsLow) implements TransferCommand {}

  /** Only the owner's timers. */
  non-sealed interface Private extends TransferCommand {}
}
