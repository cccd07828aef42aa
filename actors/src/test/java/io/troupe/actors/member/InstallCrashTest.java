package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.troupe.actors.wal.WalActor;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotManifest;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.Wal;
import io.troupe.persistence.wal.WalException;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.RaftState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.BehaviorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A member that crashes at each step of the installation of another member's snapshot starts with
 * the old state or the new one.
 */
class InstallCrashTest {
  private static final long APPLIED = 3;
  private static final long LAST = 5;
  private static final long SNAPSHOT = 10;
  private static final HardState OLD = new HardState(1, new NodeId(1), APPLIED);
  private static final HardState NEW = new HardState(4, new NodeId(1), SNAPSHOT);

  /** The steps in order; the member crashes right after each. */
  private enum Step {
    FILES_RECEIVED,
    CONTENT_NAMED,
    MANIFEST_WRITTEN,
    TERM_WRITTEN,
    LOG_RESTARTED,
    STATE_WRITTEN,
    OLD_STATE_MOVED_AWAY,
    NEW_STATE_HALF_MADE,
    NEW_STATE_IN_PLACE
  }

  private final Path temp;
  private final DataDir dataDir;
  private final SnapshotDirectory snapshots;

  InstallCrashTest(@TempDir Path temp) {
    this.temp = temp;
    this.dataDir = dataDir("member", 1);
    this.snapshots = new SnapshotDirectory(dataDir.snapshots());
  }

  private DataDir dataDir(String name, long id) {
    DataDir made = DataDir.open(temp.resolve(name));
    made.bootstrap(
        new MemberIdentity(
            7,
            new NodeId(id),
            name,
            List.of("http://x:1"),
            true,
            new TreeMap<>(Map.of(new NodeId(id), List.of("http://x:1"))),
            "test"));
    return made;
  }

  private static List<Entry> noops(long from, long to, long term) {
    List<Entry> entries = new ArrayList<>();
    for (long index = from; index <= to; index++) {
      entries.add(new Entry(term, index, Entry.Kind.NOOP, Bytes.EMPTY));
    }
    return entries;
  }

  @BeforeEach
  void makeOldMember() {
    MemberFiles files = MemberFiles.open(dataDir, SmallSettings.SMALL, new MemberMetrics());
    files.wal().append(OLD, noops(1, LAST, 1));
    files.wal().sync();
    apply(files, APPLIED, 1);
    files.store().flush();
    files.wal().close();
    files.store().close();
  }

  private static void apply(MemberFiles files, long last, long term) {
    for (long index = 1; index <= last; index++) {
      files.machine().noop(index, term);
    }
    files.machine().commit();
  }

  /** The other member's snapshot; its files are in the directory for received ones. */
  private SnapshotManifest receive() throws IOException {
    try (DataDir leader = dataDir("leader", 2)) {
      MemberFiles files = MemberFiles.open(leader, SmallSettings.SMALL, new MemberMetrics());
      apply(files, SNAPSHOT, 3);
      SnapshotDirectory theirs = new SnapshotDirectory(leader.snapshots());
      Path content = theirs.prepare(SNAPSHOT, 3);
      files.store().checkpoint(content);
      SnapshotRef ref = new SnapshotRef(SNAPSHOT, 3, Bytes.EMPTY, content);
      theirs.save(ref);
      files.wal().close();
      files.store().close();
      SnapshotManifest manifest = theirs.manifest(ref);
      snapshots.prepareReceived(manifest);
      copy(content, dataDir.snapshots().resolve("receiving"));
      return manifest;
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> list = Files.list(from)) {
      for (Path file : (Iterable<Path>) list::iterator) {
        Files.copy(file, to.resolve(String.valueOf(file.getFileName())));
      }
    }
  }

  private void runUntil(Step last) throws IOException {
    SnapshotManifest manifest = receive();
    Path received = dataDir.snapshots().resolve("receiving");
    if (last == Step.FILES_RECEIVED) {
      return;
    }
    if (last == Step.CONTENT_NAMED) {
      DurableFiles.rename(received, dataDir.snapshots().resolve(manifest.directory()));
      return;
    }
    SnapshotRef ref = snapshots.adopt(manifest);
    if (last == Step.MANIFEST_WRITTEN) {
      return;
    }
    log(last);
    Path state = dataDir.state();
    if (last.compareTo(Step.OLD_STATE_MOVED_AWAY) >= 0) {
      DurableFiles.rename(state, state.resolveSibling("state.replaced"));
    }
    if (last == Step.NEW_STATE_HALF_MADE) {
      Path half = state.resolveSibling("state.restoring");
      Files.createDirectories(half);
      Files.writeString(half.resolve("CURRENT"), "MANIF");
    }
    if (last == Step.NEW_STATE_IN_PLACE) {
      snapshots.restore(ref, state);
    }
  }

  /** The wal actor writes until its disk is full. */
  private void log(Step last) {
    ChronicleWal disk =
        ChronicleWal.open(
            dataDir.wal(), SmallSettings.SMALL.wal(), WalReplay.read(dataDir.wal(), APPLIED));
    int writes = last == Step.TERM_WRITTEN ? 1 : last == Step.LOG_RESTARTED ? 2 : 3;
    Wal filling = new FillingWal(disk, writes);
    BehaviorTestKit<WalCommand> actor =
        BehaviorTestKit.create(
            WalActor.create(
                filling,
                new WalActor.Links(
                    TestInbox.<RaftCommand>create().getRef(),
                    (to, message) -> {},
                    Runnable::run,
                    () -> {})));
    WalCommand.Install install =
        new WalCommand.Install(new HardState(NEW.term(), NEW.vote(), APPLIED), NEW, SNAPSHOT);
    WalException full = catchThrowableOfType(WalException.class, () -> actor.run(install));
    assertThat(full == null).isEqualTo(writes == 3);
    disk.close();
  }

  @ParameterizedTest
  @EnumSource(Step.class)
  void startsWithOldOrNewState(Step last) throws IOException {
    runUntil(last);
    for (int start = 1; start <= 2; start++) {
      MemberFiles files = MemberFiles.open(dataDir, SmallSettings.SMALL, new MemberMetrics());
      RaftState found = files.recovered();
      if (last.compareTo(Step.LOG_RESTARTED) < 0) {
        assertThat(files.machine().appliedIndex()).isEqualTo(APPLIED);
        assertThat(found.applied()).isEqualTo(APPLIED);
        assertThat(found.entries()).isEqualTo(noops(1, LAST, 1));
      } else {
        assertThat(files.machine().appliedIndex()).isEqualTo(SNAPSHOT);
        assertThat(files.machine().view().appliedTerm()).isEqualTo(3);
        assertThat(found.snapshotIndex()).isEqualTo(SNAPSHOT);
        assertThat(found.entries()).isEmpty();
      }
      assertThat(found.hardState().term()).isEqualTo(last.compareTo(Step.TERM_WRITTEN) < 0 ? 1 : 4);
      assertThat(found.hardState().commit())
          .as("nothing of a tail that may contradict the snapshot is committed")
          .isEqualTo(last.compareTo(Step.STATE_WRITTEN) < 0 ? APPLIED : SNAPSHOT);
      assertThat(dataDir.root().resolve("state.replaced")).doesNotExist();
      // The log continues where it should.
      long next = found.snapshotIndex() + found.entries().size() + 1;
      if (start == 2) {
        files.wal().append(found.hardState(), noops(next, next, 4));
        files.wal().sync();
      }
      files.wal().close();
      files.store().close();
    }
  }

  /**
   * A received snapshot at an index of the own log, where the log has entries of another term: it
   * must not be restored.
   */
  @Test
  void receivedSnapshotThatContradictsLogIsNotRestored() throws IOException {
    try (ChronicleWal wal =
        ChronicleWal.open(
            dataDir.wal(), SmallSettings.SMALL.wal(), WalReplay.read(dataDir.wal(), APPLIED))) {
      wal.append(OLD, noops(LAST + 1, SNAPSHOT + 2, 1));
      wal.sync();
    }
    snapshots.adopt(receive());
    DurableFiles.deleteTree(dataDir.state());
    MemberFiles files = MemberFiles.open(dataDir, SmallSettings.SMALL, new MemberMetrics());
    // The entries that the log has as committed are applied; nothing of the snapshot is.
    assertThat(files.machine().appliedIndex()).isEqualTo(OLD.commit());
    assertThat(files.machine().view().appliedTerm()).isEqualTo(1);
    assertThat(files.recovered().entries())
        .filteredOn(entry -> entry.index() > 1)
        .isEqualTo(noops(2, SNAPSHOT + 2, 1));
    files.wal().close();
    files.store().close();
  }

  @Test
  void tooOldStateWithoutSnapshotIsRefused() throws IOException {
    log(Step.STATE_WRITTEN);
    try {
      MemberFiles.open(dataDir, SmallSettings.SMALL, new MemberMetrics());
    } catch (io.troupe.persistence.datadir.DataDirException refused) {
      assertThat(refused).hasMessageContaining("the log begins after index 10");
      return;
    }
    throw new AssertionError("a state at 3 below a log that begins at 10 was taken");
  }
}
