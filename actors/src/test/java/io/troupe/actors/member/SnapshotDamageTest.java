package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.snapshot.SnapshotActorMessages;
import io.troupe.actors.snapshot.TransferCommand;
import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotManifest;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ActorRef;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the snapshot actor does about damaged snapshots and tables. */
class SnapshotDamageTest extends SnapshotActorSetup {
  SnapshotDamageTest(@TempDir Path temp) {
    super(temp);
  }

  /** The snapshot of the last index before a start, found damaged when a follower needs one. */
  @Test
  void damagedSnapshotOfAppliedIndexIsReplaced() throws Exception {
    List<ConfChange> members =
        List.of(new ConfChange(ConfChange.Kind.ADD_VOTER, new NodeId(2), List.of("http://x:1")));
    files
        .machine()
        .confChange(1, 1, new ConfEntry(null, members, Membership.EMPTY.after(members, 1)));
    files.machine().commit();
    ActorRef<SnapshotCommand> first = spawn(NEVER);
    first.tell(new SnapshotCommand.Due(1, 1));
    expectOnlySnapshot(1);
    kit.stop(first);
    Path content = new SnapshotDirectory(dataDir.snapshots()).latest(1).orElseThrow().directory();
    Files.delete(content.resolve("CURRENT"));
    ActorRef<SnapshotCommand> second = spawn(NEVER);
    second.tell(new SnapshotCommand.Send(new NodeId(3), 1, 1, 1));
    assertThat(transfers.expectMessageClass(TransferCommand.Start.class).snapshot().index())
        .isEqualTo(1);
  }

  /** A table of the newest snapshot; the state and the other snapshots may share it. */
  private Path table(long snapshot) throws IOException {
    Path content =
        new SnapshotDirectory(dataDir.snapshots()).latest(snapshot).orElseThrow().directory();
    try (Stream<Path> list = Files.list(content)) {
      return list.filter(path -> path.toString().endsWith(".sst"))
          .sorted()
          .findFirst()
          .orElseThrow();
    }
  }

  private SnapshotManifest.FileSum sumOf(Path table, long snapshot) {
    SnapshotDirectory directory = new SnapshotDirectory(dataDir.snapshots());
    return directory.manifest(directory.latest(snapshot).orElseThrow()).files().stream()
        .filter(file -> file.name().equals(String.valueOf(table.getFileName())))
        .findFirst()
        .orElseThrow();
  }

  private static void flip(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 4;
    try (var out = Files.newOutputStream(file, StandardOpenOption.WRITE)) {
      out.write(bytes);
    }
  }

  private Path tableOfTheFirstSnapshot(ActorRef<SnapshotCommand> actor) throws Exception {
    Bytes key = Bytes.utf8("key");
    files.machine().apply(1, 1, new Operation.Put(key, key, 0, false, false, false));
    files.machine().commit();
    actor.tell(new SnapshotCommand.Due(1, 1));
    expectOnlySnapshot(1);
    return table(1);
  }

  @Test
  void damagedTableOnlyInSnapshotCausesNewSnapshot() throws Exception {
    ActorRef<SnapshotCommand> actor = spawn(NEVER);
    Path table = tableOfTheFirstSnapshot(actor);
    SnapshotManifest.FileSum sum = sumOf(table, 1);
    // As on a file system without hard links, where the state has its own file.
    byte[] content = Files.readAllBytes(table);
    Files.delete(table);
    Files.write(table, content);
    flip(table);
    assertThat(new SnapshotDirectory(dataDir.snapshots()).damagedBy(sum)).containsExactly(1L);
    actor.tell(SnapshotActorMessages.damaged(sum));
    Awaitility.await("a whole snapshot in its place")
        .until(
            () -> {
              SnapshotDirectory directory = new SnapshotDirectory(dataDir.snapshots());
              var latest = directory.latestVerified(Long.MAX_VALUE, any -> true);
              return latest.isPresent() && directory.damagedBy(sum).isEmpty();
            });
  }

  @Test
  void damagedTableThatStateSharesStopsMember() throws Exception {
    ActorRef<SnapshotCommand> actor = spawn(NEVER);
    Path table = tableOfTheFirstSnapshot(actor);
    SnapshotManifest.FileSum sum = sumOf(table, 1);
    assertThat(Files.isSameFile(table, dataDir.state().resolve(table.getFileName()))).isTrue();
    flip(table);
    actor.tell(SnapshotActorMessages.damaged(sum));
    wal.expectTerminated(actor);
  }

  /** Its first checksum would match the damage, and receivers would get the damage. */
  @Test
  void tableDamagedBeforeItsFirstChecksumStopsMember() throws Exception {
    ActorRef<SnapshotCommand> actor = spawn(NEVER);
    Bytes key = Bytes.utf8("key");
    files.machine().apply(1, 1, new Operation.Put(key, key, 0, false, false, false));
    files.machine().commit();
    files.store().flush();
    Path table;
    try (Stream<Path> list = Files.list(dataDir.state())) {
      table = list.filter(path -> path.toString().endsWith(".sst")).findFirst().orElseThrow();
    }
    flip(table);
    actor.tell(new SnapshotCommand.Due(1, 1));
    wal.expectTerminated(actor);
    assertThat(snapshots()).isEmpty();
  }
}
