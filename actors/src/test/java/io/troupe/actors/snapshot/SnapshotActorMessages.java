package io.troupe.actors.snapshot;

import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import io.troupe.protocol.SnapshotCommand;

/** Messages between the actors of this package, for tests of other packages. */
public final class SnapshotActorMessages {
  private SnapshotActorMessages() {}

  /** A transfer succeeded. */
  public static SnapshotCommand transferred(NodeId to, long transfer) {
    return new SnapshotActor.TransferEnded(to, transfer, true);
  }

  /** A transfer found a file of this member damaged. */
  public static SnapshotCommand damaged(FileSum file) {
    return new SnapshotActor.Damaged(file);
  }
}
