package io.troupe.actors.member;

import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.mvcc.StoreException;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DataDirException.Reason;
import io.troupe.persistence.datadir.DurableFiles;
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
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a member has on its disk, opened in the order of recovery: the state with its applied index,
 * then the log from there on. Nothing is derived twice: the state says how far it is, the log
 * brings the rest.
 */
public final class MemberFiles implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MemberFiles.class);

  /** Entries that the state holds already, kept for members that lack them after a restart. */
  private static final long RECENT_BYTES = 16L << 20;

  private final DataDir dataDir;
  private final MemberIdentity identity;
  private final MemberSettings settings;
  private final UnaryOperator<Wal> logUsed;
  private final MemberMetrics metrics;
  private volatile Opened opened;
  private volatile Consumer<StoreException> onDamage = damage -> {};

  private record Opened(RocksStore store, StateMachine machine, RaftState recovered, Wal wal) {
    private void close() {
      machine.close();
      store.close();
    }
  }

  private MemberFiles(
      DataDir dataDir,
      MemberIdentity identity,
      MemberSettings settings,
      MemberMetrics metrics,
      UnaryOperator<Wal> logUsed) {
    this.metrics = metrics;
    this.dataDir = dataDir;
    this.identity = identity;
    this.settings = settings;
    this.logUsed = logUsed;
    this.opened = openAll();
  }

  /**
   * Opens state and log of a data directory that has an identity.
   *
   * @param metrics of the member; what it does on its disk is counted there
   * @throws io.troupe.mvcc.StoreException if the state cannot be opened
   * @throws DataDirException CORRUPT if state, snapshots and log do not meet
   * @throws io.troupe.persistence.snapshot.SnapshotException if a snapshot cannot be restored
   * @throws io.troupe.persistence.wal.WalCorruptException if the log lacks what it once held
   * @throws io.troupe.persistence.wal.WalException if the disk does not work
   */
  public static MemberFiles open(DataDir dataDir, MemberSettings settings, MemberMetrics metrics) {
    return open(dataDir, settings, metrics, UnaryOperator.identity());
  }

  /** With faults of the log that a test puts in. */
  static MemberFiles open(
      DataDir dataDir, MemberSettings settings, MemberMetrics metrics, UnaryOperator<Wal> logUsed) {
    MemberIdentity identity =
        Objects.requireNonNull(dataDir.identity(), "the data directory has no identity yet");
    return new MemberFiles(dataDir, identity, settings, metrics, logUsed);
  }

  /**
   * Opens everything anew from what is on disk, after the log was replaced by a snapshot. The rooms
   * have stopped, and with them the log is closed; nobody reads the state any more.
   *
   * @throws RuntimeException as {@link #open}
   */
  void reopen() {
    opened.close();
    opened = openAll();
    opened.store().onDamage(onDamage);
  }

  private Opened openAll() {
    restoreIfEmpty(dataDir);
    Opened files = openOnce();
    if (files == null) {
      files = openOnce();
    }
    return Objects.requireNonNull(files, "the state was replaced and is still too old");
  }

  /** Null if the state had to be replaced: try again. */
  private @Nullable Opened openOnce() {
    RocksStore store = RocksStore.open(dataDir.state(), settings.store());
    boolean complete = false;
    WalReplay replay;
    try {
      StateMachine machine =
          new StateMachine(new MeasuredStore(store, metrics.disk()), settings.hotRecordBytes());
      replay = WalReplay.read(dataDir.wal(), machine.appliedIndex(), RECENT_BYTES);
      if (machine.appliedIndex() >= replay.floor() || successor(replay) == null) {
        RaftState recovered = recovered(machine, replay);
        Wal wal = logUsed.apply(ChronicleWal.open(dataDir.wal(), settings.wal(), replay));
        if (replay.hardState().equals(HardState.INITIAL) && !recovered.entries().isEmpty()) {
          // The beginning of a log counts as durable from here on.
          wal.append(recovered.hardState(), recovered.entries());
          wal.sync();
        }
        complete = true;
        return new Opened(store, machine, recovered, new MeasuredWal(wal, metrics.disk()));
      }
    } finally {
      if (!complete) {
        store.close();
      }
    }
    replaceState(Objects.requireNonNull(successor(replay)));
    return null;
  }

  /** The snapshot that the log goes on behind, or null if there is none that is whole. */
  private @Nullable SnapshotRef successor(WalReplay replay) {
    return new SnapshotDirectory(dataDir.snapshots())
        .latest(replay.lastIndex())
        .filter(newest -> newest.index() >= replay.floor())
        .orElse(null);
  }

  /**
   * The second half of installing another member's snapshot: the log begins behind it, the state is
   * older. The old state gives way as a whole; a crash leaves the old one, none, or the new one,
   * and this or {@link #restoreIfEmpty} goes on from there.
   */
  private void replaceState(SnapshotRef snapshot) {
    LOG.info(
        "the log begins behind a snapshot that is newer than the state, replacing the state"
            + " snapshot-index={}",
        snapshot.index());
    SnapshotDirectory snapshots = new SnapshotDirectory(dataDir.snapshots());
    Path replaced = replaced(dataDir);
    try {
      snapshots.verify(snapshot);
      DurableFiles.deleteTree(replaced);
      DurableFiles.rename(dataDir.state(), replaced);
      snapshots.restore(snapshot, dataDir.state());
      DurableFiles.deleteTree(replaced);
    } catch (IOException e) {
      throw new StoreException("cannot replace " + dataDir.state() + ": " + e, e);
    }
  }

  private static Path replaced(DataDir dataDir) {
    return dataDir.state().resolveSibling("state.replaced");
  }

  /**
   * A state directory that somebody emptied is made anew from the newest snapshot; the log brings
   * the rest.
   */
  private static void restoreIfEmpty(DataDir dataDir) {
    try {
      DurableFiles.deleteTree(replaced(dataDir));
      DurableFiles.createDirectory(dataDir.state());
    } catch (IOException e) {
      throw new StoreException("cannot make " + dataDir.state() + ": " + e, e);
    }
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
    // One that came from another member and was not installed lies above the log's end.
    WalReplay log = WalReplay.read(dataDir.wal(), Long.MAX_VALUE);
    Optional<SnapshotRef> latest =
        snapshots.latest(log.segments().isEmpty() ? Long.MAX_VALUE : log.lastIndex());
    long index = latest.map(SnapshotRef::index).orElse(0L);
    long floor = log.floor();
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

  private RaftState recovered(StateMachine machine, WalReplay replay) {
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
    if (applied > 0 && !identity.joins() && membership.equals(Membership.EMPTY)) {
      throw new DataDirException(
          Reason.CORRUPT,
          "the state of member "
              + identity.memberId()
              + " has no membership at index "
              + applied
              + ": it was made by a version that was never released; start with an empty data"
              + " directory");
    }
    List<Entry> entries = replay.entries();
    long before = applied;
    long beforeTerm = machine.view().appliedTerm();
    if (!entries.isEmpty() && entries.get(0).index() <= applied) {
      // Entries of the past are for others. Of the first one only the position counts: the term of
      // the one before it is unknown.
      before = entries.get(0).index();
      beforeTerm = entries.get(0).term();
      entries = entries.subList(1, entries.size());
    }
    return new RaftState(
        identity.memberId(), hard, membership, before, beforeTerm, entries, applied);
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

  /** Size of the log on disk. */
  public long walBytes() {
    return opened.wal().sizeOnDisk();
  }

  /** What this member counts. */
  public MemberMetrics metrics() {
    return metrics;
  }

  /** The state's store. */
  public RocksStore store() {
    return opened.store();
  }

  /** Names who is told of damage, now and after the state was replaced. */
  public void onDamage(Consumer<StoreException> listener) {
    onDamage = listener;
    opened.store().onDamage(listener);
  }

  /** The state. */
  public StateMachine machine() {
    return opened.machine();
  }

  RaftState recovered() {
    return opened.recovered();
  }

  Wal wal() {
    return opened.wal();
  }

  /**
   * Closes the state, writing what is only in memory, and lets go of the directory. The wal room
   * closes the log.
   */
  @Override
  public void close() {
    opened.close();
    dataDir.close();
  }
}
