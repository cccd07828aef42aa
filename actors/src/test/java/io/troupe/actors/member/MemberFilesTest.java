package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.actors.apply.CompactionActor;
import io.troupe.actors.snapshot.SnapshotSettings;
import io.troupe.actors.snapshot.TransferSettings;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.EtcdVersion;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.mvcc.AuthRows;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.persistence.wal.WalSettings;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.RaftState;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The state of a member at its first start and at a restart. */
class MemberFilesTest {
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId TWO = new NodeId(2);
  private static final SortedMap<NodeId, List<String>> BOTH =
      new TreeMap<>(Map.of(ONE, List.of("http://b:1", "http://a:1"), TWO, List.of("http://c:1")));

  private final Path root;

  MemberFilesTest(@TempDir Path temp) {
    this.root = temp.resolve("data");
  }

  private WalReplay log() {
    return WalReplay.read(root.resolve("wal"), 0);
  }

  private void identify(NodeId self, boolean joins) {
    try (DataDir dir = DataDir.open(root)) {
      dir.bootstrap(new MemberIdentity(9, self, "n", List.of("http://own:1"), joins, BOTH, "test"));
    }
  }

  private void open(Consumer<MemberFiles> use) {
    MemberFiles files = MemberFiles.open(DataDir.open(root), settings(), new MemberMetrics());
    try {
      use.accept(files);
    } finally {
      files.wal().close();
      files.close();
    }
  }

  private RaftState recovered() {
    RaftState[] state = new RaftState[1];
    open(files -> state[0] = files.recovered());
    return state[0];
  }

  private static MemberSettings settings() {
    return new MemberSettings(
        RaftSettings.defaults(),
        Duration.ofMillis(5),
        Duration.ofMillis(50),
        new WalSettings(1 << 20, 64 << 10),
        new RocksSettings(8 << 20, 4 << 20, 1, 64, 0),
        0,
        SnapshotSettings.of(1000, Duration.ZERO),
        TransferSettings.of(64L << 20),
        Duration.ofSeconds(1),
        new CompactionActor.Settings(100, Duration.ZERO),
        1 << 20,
        1 << 20,
        Duration.ofHours(1),
        Duration.ofSeconds(1),
        Duration.ZERO,
        false,
        new EtcdVersion(3, 7, 1));
  }

  private static ConfEntry first(RaftState state) {
    return MembershipCodec.decodeEntry(state.entries().get(0).data());
  }

  @Test
  void logOfFoundingMemberBeginsWithAllMembers() {
    identify(TWO, false);
    RaftState state = recovered();
    assertThat(state.hardState()).isEqualTo(new HardState(1, NodeId.NONE, 1));
    assertThat(state.membership()).isEqualTo(Membership.EMPTY);
    assertThat(state.entries()).hasSize(1);
    assertThat(first(state).after().voters()).containsExactly(ONE, TWO);
    assertThat(first(state).changes())
        .containsExactly(
            new ConfChange(ConfChange.Kind.ADD_VOTER, ONE, List.of("http://a:1", "http://b:1")),
            new ConfChange(ConfChange.Kind.ADD_VOTER, TWO, List.of("http://c:1")));
  }

  @Test
  void firstEntryIsEqualOnAllMembersAndStays() {
    identify(TWO, false);
    RaftState made = recovered();
    List<Entry> entries = made.entries();
    RaftState again = recovered();
    assertThat(again.applied()).as("committed, so the state has it").isEqualTo(1);
    assertThat(again.membership()).isEqualTo(first(made).after());
    assertThat(log().entries()).as("read from the disk").isEqualTo(entries);
    assertThat(RaftState.bootstrap(ONE, first(made).changes()).entries())
        .as("another member's")
        .isEqualTo(entries);
  }

  @Test
  void joiningMemberStartsEmpty() {
    identify(TWO, true);
    for (int start = 0; start < 2; start++) {
      assertThat(recovered()).isEqualTo(RaftState.fresh(TWO, Membership.EMPTY));
    }
  }

  @Test
  void membershipIsReadFromState() {
    identify(TWO, false);
    open(
        files -> {
          ConfEntry entry = first(files.recovered());
          files.machine().confChange(1, 1, entry);
          files.machine().commit();
        });
    RaftState state = recovered();
    assertThat(state.applied()).isEqualTo(1);
    assertThat(state.membership())
        .isEqualTo(new Membership(1, Set.of(ONE, TWO), Set.of(), Set.of(), Set.of(), Set.of()));
  }

  @Test
  void stateWithoutMembershipIsRefused() {
    identify(TWO, false);
    open(
        files -> {
          files.machine().noop(1, 1);
          files.machine().commit();
        });
    assertThatThrownBy(this::recovered)
        .isInstanceOfSatisfying(
            DataDirException.class,
            e -> assertThat(e.reason()).isEqualTo(DataDirException.Reason.CORRUPT))
        .hasMessageContaining("no membership");
  }

  @Test
  void removedMemberIsRefused() {
    identify(TWO, false);
    open(
        files -> {
          files.machine().confChange(1, 1, first(files.recovered()));
          ConfChange removal = new ConfChange(ConfChange.Kind.REMOVE, TWO, List.of());
          Membership after =
              new Membership(2, Set.of(ONE), Set.of(), Set.of(), Set.of(), Set.of(TWO));
          files.machine().confChange(2, 1, new ConfEntry(null, List.of(removal), after));
          files.machine().commit();
        });
    assertThatThrownBy(this::recovered)
        .isInstanceOf(MemberRemovedException.class)
        .hasMessageContaining("member add");
  }

  @Test
  void stateOfNewerClusterIsRefused_V2() {
    identify(TWO, false);
    EtcdVersion newer = new EtcdVersion(3, 8, 0);
    open(
        files -> {
          files.machine().confChange(1, 1, first(files.recovered()));
          files
              .machine()
              .apply(2, 1, Requester.MEMBER, new Operation.SetClusterVersion(null, newer));
          files.machine().commit();
        });
    assertThatThrownBy(this::recovered)
        .isInstanceOf(MemberTooOldException.class)
        .hasMessageContaining("serves 3.7.1, the cluster has version 3.8");
  }

  @Test
  void stateOfNewerProgramIsRefused() {
    identify(TWO, false);
    open(
        files -> {
          files.machine().confChange(1, 1, first(files.recovered()));
          files.machine().commit();
        });
    try (RocksStore store = RocksStore.open(root.resolve("state"), settings().store())) {
      StoreBatch batch = new StoreBatch();
      batch.put(Space.META, AuthRows.SCHEMA, Bytes.of(0, 0, 0, 0, 0, 0, 0, 99));
      store.write(batch);
      store.flush();
    }
    assertThatThrownBy(this::recovered)
        .isInstanceOf(MemberTooOldException.class)
        .hasMessageContaining("its schema 99 is unknown: start the newer program again")
        .hasMessageContaining(root.toString());
  }

  @Test
  void stateWithoutLogIsRefused() throws IOException {
    identify(TWO, false);
    open(
        files -> {
          files.machine().confChange(1, 1, first(files.recovered()));
          files.machine().commit();
        });
    DurableFiles.deleteTree(root.resolve("wal"));
    assertThatThrownBy(this::recovered)
        .isInstanceOfSatisfying(
            DataDirException.class,
            e -> assertThat(e.reason()).isEqualTo(DataDirException.Reason.CORRUPT))
        .hasMessageContaining("there is no log in");
  }
}
