package io.troupe.actors.member;

import io.troupe.machine.StateMachine;
import io.troupe.model.HardState;
import io.troupe.mvcc.StoreException;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DataDirException.Reason;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.persistence.store.RocksStore;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.Wal;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.raft.RaftState;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a member has on its disk, opened in the order of recovery: the state with its applied index,
 * then the log from there on. Nothing is derived twice: the state says how far it is, the log
 * brings the rest.
 */
public final class MemberFiles implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MemberFiles.class);

  private final DataDir dataDir;
  private final MemberIdentity identity;
  private final RocksStore store;
  private final StateMachine machine;
  private final RaftState recovered;
  private final Wal wal;

  private MemberFiles(
      DataDir dataDir,
      MemberIdentity identity,
      RocksStore store,
      StateMachine machine,
      RaftState recovered,
      Wal wal) {
    this.dataDir = dataDir;
    this.identity = identity;
    this.store = store;
    this.machine = machine;
    this.recovered = recovered;
    this.wal = wal;
  }

  /**
   * Opens state and log of a data directory that has an identity.
   *
   * @throws io.troupe.mvcc.StoreException if the state cannot be opened
   * @throws DataDirException CORRUPT if state, snapshots and log do not meet
   * @throws io.troupe.persistence.snapshot.SnapshotException if a snapshot cannot be restored
   * @throws io.troupe.persistence.wal.WalCorruptException if the log lacks what it once held
   * @throws io.troupe.persistence.wal.WalException if the disk does not work
   */
  public static MemberFiles open(DataDir dataDir, MemberSettings settings) {
    MemberIdentity identity =
        Objects.requireNonNull(dataDir.identity(), "the data directory has no identity yet");
    restoreIfEmpty(dataDir);
    RocksStore store = RocksStore.open(dataDir.state(), settings.store());
    boolean opened = false;
    try {
      StateMachine machine = new StateMachine(store, settings.hotRecordBytes());
      WalReplay replay = WalReplay.read(dataDir.wal(), machine.appliedIndex());
      RaftState recovered = recovered(identity, machine, replay);
      Wal wal = ChronicleWal.open(dataDir.wal(), settings.wal(), replay);
      if (replay.hardState().equals(HardState.INITIAL) && !recovered.entries().isEmpty()) {
        // The beginning of a log counts as durable from here on.
        wal.append(recovered.hardState(), recovered.entries());
        wal.sync();
      }
      opened = true;
      return new MemberFiles(dataDir, identity, store, machine, recovered, wal);
    } finally {
      if (!opened) {
        store.close();
      }
    }
  }

  /**
   * A state directory that somebody emptied is made anew from the newest snapshot; the log brings
   * the rest.
   */
  private static void restoreIfEmpty(DataDir dataDir) {
    try (Stream<Path> listed = Files.list(dataDir.state())) {
      List<Path> found = listed.toList();
      if (!found.stream().allMatch(MemberFiles::isNativeLibrary)) {
        return;
      }
      for (Path leftover : found) {
        Files.delete(leftover);
      }
    } catch (IOException e) {
      throw new StoreException("cannot read " + dataDir.state() + ": " + e, e);
    }
    SnapshotDirectory snapshots = new SnapshotDirectory(dataDir.snapshots());
    Optional<SnapshotRef> latest = snapshots.latest(Long.MAX_VALUE);
    long index = latest.map(SnapshotRef::index).orElse(0L);
    long floor = WalReplay.read(dataDir.wal(), index).floor();
    if (index < floor) {
      throw new DataDirException(
          Reason.CORRUPT,
          dataDir.state()
              + " is empty, and the newest usable snapshot in "
              + dataDir.snapshots()
              + (index == 0 ? " is missing" : " ends at index " + index)
              + ", but the log begins behind index "
              + floor
              + ": restore the member from a backup");
    }
    if (latest.isPresent()) {
      LOG.warn("the state directory is empty, restoring the newest snapshot index={}", index);
      snapshots.restore(latest.get(), dataDir.state());
    }
  }

  /** RocksDB's library is unpacked there for loading; a sudden end can leave it behind. */
  private static boolean isNativeLibrary(Path file) {
    return String.valueOf(file.getFileName()).startsWith("librocksdbjni");
  }

  private static RaftState recovered(
      MemberIdentity identity, StateMachine machine, WalReplay replay) {
    long applied = machine.appliedIndex();
    HardState hard = replay.hardState();
    LOG.info(
        "recovered revision={} applied={} log-entries={} last-index={} term={} commit={}",
        machine.currentRevision(),
        applied,
        replay.entries().size(),
        replay.lastIndex(),
        hard.term(),
        hard.commit());
    if (applied < replay.floor()) {
      throw new DataDirException(
          Reason.CORRUPT,
          "the state holds the log up to index "
              + applied
              + ", but the log begins behind index "
              + replay.floor()
              + ": the state is older than the snapshot; empty the state directory to restore it");
    }
    if (replay.tornTail() != null) {
      LOG.warn(
          "the log ends in an unfinished write, which was never acknowledged at={}",
          replay.tornTail());
    }
    Membership membership = machine.view().membership();
    if (applied == 0 && hard.equals(HardState.INITIAL) && replay.lastIndex() == 0) {
      return first(identity);
    }
    if (applied > 0 && membership.equals(Membership.EMPTY)) {
      throw new DataDirException(
          Reason.CORRUPT,
          "the state of member "
              + identity.memberId()
              + " has no membership at index "
              + applied
              + ": it was made by a version that was never released; start with an empty data"
              + " directory");
    }
    return new RaftState(
        identity.memberId(),
        hard,
        membership,
        applied,
        machine.view().appliedTerm(),
        replay.entries(),
        applied);
  }

  /**
   * Nothing ran here yet, or nothing of it reached the disk. A first member's log begins with the
   * members, the same on each of them; one that joins waits for its leader.
   */
  private static RaftState first(MemberIdentity identity) {
    if (identity.joins()) {
      return RaftState.fresh(identity.memberId(), Membership.EMPTY);
    }
    List<ConfChange> members = new ArrayList<>();
    identity
        .members()
        .forEach(
            (member, urls) ->
                members.add(
                    new ConfChange(
                        ConfChange.Kind.ADD_VOTER, member, urls.stream().sorted().toList())));
    return RaftState.bootstrap(identity.memberId(), members);
  }

  /** Who this is. */
  public MemberIdentity identity() {
    return identity;
  }

  /** Where it lives. */
  public DataDir dataDir() {
    return dataDir;
  }

  /** The state's store. */
  public RocksStore store() {
    return store;
  }

  /** The state. */
  public StateMachine machine() {
    return machine;
  }

  RaftState recovered() {
    return recovered;
  }

  Wal wal() {
    return wal;
  }

  /**
   * Closes the state, writing what is only in memory, and lets go of the directory. The wal room
   * closes the log.
   */
  @Override
  public void close() {
    store.close();
    dataDir.close();
  }
}
