package io.troupe.actors.snapshot;

import io.troupe.actors.member.MemberFiles;
import io.troupe.actors.member.MemberSettings;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Placeholder until the plugin is merged. */
public final class SnapshotActor {
  private SnapshotActor() {}

  public static Behavior<SnapshotCommand> create(
      MemberFiles files,
      MemberSettings settings,
      ActorRef<WalCommand> wal,
      ActorRef<RaftCommand> raft) {
    return Behaviors.ignore();
  }
}
