package io.troupe.actors.member;

import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.ClusterVersions;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.mvcc.CountBounds;
import io.troupe.mvcc.KeyCounting;
import io.troupe.mvcc.StoreException;
import io.troupe.mvcc.StoreSchema;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DataDirException.Reason;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.store.RocksStore;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.Wal;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.raft.RaftState;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import io.troupe.snapshot.LogExtent;
import io.troupe.version.VersionRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a member, opened in the order of recovery: first the state with its applied index,
 * then the log after that index. Nothing is stored twice: the state has the applied index, and the
 * log supplies the later entries.
 */
public final class MemberFiles implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MemberFiles.class);

  /**
   * Memory for entries that are already applied, kept for members that lack them after a restart.
   */
  private static final long RECENT_BYTES = 16L << 20;

  private static final long COUNT_REPORT_NANOS = TimeUnit.SECONDS.toNanos(10);

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
      UnaryOperator<Wal> logUsed,
      @Nullable Consumer<Map<NodeId, List<String>>> others) {
    this.metrics = metrics;
    this.dataDir = dataDir;
    this.identity = identity;
    this.settings = settings;
    this.logUsed = logUsed;
    this.opened = openAll(others, true);
  }

  /**
   * Opens state and log of a data directory that has an identity.
   *
   * @param metrics of the member; counts its disk operations
   * @throws MemberTooOldException if this program is older than the state or its cluster
   * @throws MemberRemovedException if the member knows that it was removed from the cluster
   * @throws io.troupe.mvcc.StoreException if the state cannot be opened
   * @throws DataDirException CORRUPT if there is a gap between the state or the snapshots and the
   *     log
   * @throws io.troupe.persistence.snapshot.SnapshotException if a snapshot cannot be restored
   * @throws io.troupe.persistence.wal.WalCorruptException if entries of the log are lost
   * @throws io.troupe.persistence.wal.WalException if the disk fails
   */
  public static MemberFiles open(DataDir dataDir, MemberSettings settings, MemberMetrics metrics) {
    return open(dataDir, settings, metrics, UnaryOperator.identity(), null);
  }

  /**
   * As {@link #open}, for a member that becomes the only one of its cluster, because the other
   * members are permanently lost (docs/operations.md).
   *
   * @param others receives the addresses of the other members before anything is written; may throw
   *     to reject the start
   * @throws DataDirException also FOREIGN, if the member is not part of its cluster
   * @throws RuntimeException as {@link #open}
   */
  public static MemberFiles openAlone(
      DataDir dataDir,
      MemberSettings settings,
      MemberMetrics metrics,
      Consumer<Map<NodeId, List<String>>> others) {
    return open(dataDir, settings, metrics, UnaryOperator.identity(), others);
  }

  /** For tests that inject faults into the log. */
  static MemberFiles open(
      DataDir dataDir, MemberSettings settings, MemberMetrics metrics, UnaryOperator<Wal> logUsed) {
    return open(dataDir, settings, metrics, logUsed, null);
  }

  /** The same; if {@code others} is not null, as the only member. */
  static MemberFiles open(
      DataDir dataDir,
      MemberSettings settings,
      MemberMetrics metrics,
      UnaryOperator<Wal> logUsed,
      @Nullable Consumer<Map<NodeId, List<String>>> others) {
    MemberIdentity identity =
        Objects.requireNonNull(dataDir.identity(), "the data directory has no identity yet");
    return new MemberFiles(dataDir, identity, settings, metrics, logUsed, others);
  }

  /**
   * Opens all files again after a snapshot replaced the log. The actors have stopped, so the log is
   * closed and no thread reads the state.
   *
   * @throws RuntimeException as {@link #open}
   */
  void reopen() {
    opened.close();
    // Members that joined after a forced start stay.
    opened = openAll(null, false);
    opened.store().onDamage(onDamage);
  }

  private Opened openAll(
      @Nullable Consumer<Map<NodeId, List<String>>> others, boolean processStarts) {
    StateRestore.ifEmpty(dataDir);
    Opened files = openOnce(others, processStarts);
    if (files == null) {
      files = openOnce(others, processStarts);
    }
    return Objects.requireNonNull(files, "the state was replaced but is still older than the log");
  }

  /** Returns null if the state had to be replaced; the caller tries again. */
  private @Nullable Opened openOnce(
      @Nullable Consumer<Map<NodeId, List<String>>> others, boolean processStarts) {
    RocksStore store = RocksStore.open(dataDir.state(), settings.store());
    boolean complete = false;
    WalReplay replay;
    try {
      requireKnownSchema(store);
      countKeysIfNeeded(store);
      StateMachine machine =
          new StateMachine(new InstrumentedStore(store, metrics.disk()), settings.hotRecordBytes());
      replay =
          WalReplay.recover(
              dataDir.wal(),
              machine.appliedIndex(),
              Math.min(RECENT_BYTES, settings.raft().maxLogBytesInMemory() / 4));
      if (machine.appliedIndex() >= replay.compactedIndex()
          || !StateRestore.hasSuccessor(dataDir, replay)) {
        ReplayedLog.apply(machine, dataDir.wal(), replay);
        requireNotTooOld(machine.view().versions());
        if (processStarts && others == null) {
          requireNotRemoved(machine.view().membership());
        }
        RaftState recovered = recovered(machine, replay);
        ForcedStart start =
            others == null
                ? ForcedStart.none(recovered)
                : ForcedStart.of(
                    recovered, isFresh(machine, replay), machine.view().peerUrls(), others);
        Wal wal = logUsed.apply(ChronicleWal.open(dataDir.wal(), settings.wal(), replay));
        if (replay.hardState().equals(HardState.INITIAL) && !recovered.entries().isEmpty()) {
          // From here on the first entries of a new log count as durable.
          wal.append(recovered.hardState(), recovered.entries());
          wal.sync();
        }
        recovered = start.write(wal);
        complete = true;
        return new Opened(store, machine, recovered, new InstrumentedWal(wal, metrics.disk()));
      }
    } finally {
      if (!complete) {
        store.close();
      }
    }
    StateRestore.replace(dataDir, replay);
    return null;
  }

  /** The first start with a state that a program without counts of live keys wrote last. */
  private static void countKeysIfNeeded(RocksStore store) {
    if (!KeyCounting.isNeeded(store)) {
      return;
    }
    LOG.info("counting the live keys of the state, once; the member starts when they are counted");
    long began = System.nanoTime();
    AtomicLong reported = new AtomicLong(began);
    KeyCounting.runIfNeeded(
        store,
        CountBounds.ofHeap(),
        keys -> {
          if (System.nanoTime() - reported.get() > COUNT_REPORT_NANOS) {
            reported.set(System.nanoTime());
            LOG.info("counting the live keys of the state keys-so-far={}", keys);
          }
        });
    LOG.info(
        "counted the live keys of the state took={}ms", (System.nanoTime() - began) / 1_000_000);
  }

  private void requireKnownSchema(RocksStore store) {
    OptionalLong newer = StoreSchema.newer(store);
    if (newer.isPresent()) {
      throw new MemberTooOldException(
          "a newer program wrote the state of this member, its schema "
              + newer.getAsLong()
              + " is unknown: start the newer program again; data-dir "
              + dataDir.root());
    }
  }

  /**
   * After the replay: the log may contain the entry of a downgrade that permits this program. The
   * formats of two consecutive minor versions are the same so far (decision 0221).
   */
  private void requireNotTooOld(ClusterVersions versions) {
    String refusal = VersionRules.refuseState(settings.serverVersion(), versions);
    if (refusal != null) {
      throw new MemberTooOldException(refusal);
    }
  }

  /** Without this check it would wait for a reply of its former cluster, which may never come. */
  private void requireNotRemoved(Membership membership) {
    if (membership.removed().contains(identity.memberId())) {
      throw new MemberRemovedException();
    }
  }

  private RaftState recovered(StateMachine machine, WalReplay replay) {
    long applied = machine.appliedIndex();
    HardState hard = replay.hardState();
    LOG.info(
        "recovered revision={} applied={} log-entries={} last-index={} last-term={} term={}"
            + " commit={}",
        machine.currentRevision(),
        applied,
        replay.entries().size(),
        replay.lastIndex(),
        lastTerm(machine, replay),
        hard.term(),
        hard.commit());
    if (applied < replay.compactedIndex()) {
      throw new DataDirException(
          Reason.CORRUPT,
          "the state holds the log up to index "
              + applied
              + ", but the log begins after index "
              + replay.compactedIndex()
              + ": the state is older than the snapshot; empty the state directory to restore it");
    }
    if (applied > 0 && hard.equals(HardState.INITIAL) && replay.lastIndex() == 0) {
      throw new DataDirException(
          Reason.CORRUPT,
          "the state holds the log up to index "
              + applied
              + ", but there is no log in "
              + dataDir.wal()
              + ": the member has lost its votes and must not start; restore the log, or replace"
              + " the member; a single member: restore a backup of the whole data directory");
    }
    if (replay.tornTail() != null) {
      LOG.warn(
          "the log ends in an unfinished write, which was never acknowledged at={}",
          replay.tornTail());
    }
    Membership membership = machine.view().membership();
    if (isFresh(machine, replay)) {
      return first(identity);
    }
    if (applied > 0 && !identity.joins() && membership.equals(Membership.EMPTY)) {
      throw new DataDirException(
          Reason.CORRUPT,
          "the state of member "
              + identity.memberId()
              + " has no membership at index "
              + applied
              + ": it was written by a version that was never released; start with an empty data"
              + " directory");
    }
    return RaftState.recovered(
        identity.memberId(),
        hard,
        membership,
        applied,
        machine.view().appliedTerm(),
        replay.entries());
  }

  /** Term of the last entry, logged so that an operator can compare members. */
  private static long lastTerm(StateMachine machine, WalReplay replay) {
    List<Entry> entries = replay.entries();
    return entries.isEmpty()
        ? machine.view().appliedTerm()
        : entries.get(entries.size() - 1).term();
  }

  private static boolean isFresh(StateMachine machine, WalReplay replay) {
    return machine.appliedIndex() == 0
        && replay.hardState().equals(HardState.INITIAL)
        && replay.lastIndex() == 0;
  }

  /**
   * State of a member that never ran, or whose writes never reached the disk. The log of a founding
   * member begins with the members, equal on each of them. A joining member waits for its leader.
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

  /** Identity of this member. */
  public MemberIdentity identity() {
    return identity;
  }

  /** Directory of the files. */
  public DataDir dataDir() {
    return dataDir;
  }

  /** Size of the log on disk. */
  public long walBytes() {
    return opened.wal().sizeOnDisk();
  }

  /** The log's segments, as of its last write. */
  public LogExtent logExtent() {
    return opened.wal().status().extent();
  }

  /** Metrics of this member. */
  public MemberMetrics metrics() {
    return metrics;
  }

  /** The state's store. */
  public RocksStore store() {
    return opened.store();
  }

  /** Sets the listener for damage of the store. It stays set when the state is replaced. */
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
   * Closes the state after writing its in-memory changes, and releases the directory. The wal actor
   * closes the log.
   */
  @Override
  public void close() {
    opened.close();
    dataDir.close();
  }
}
