package io.troupe.node.offline;

import io.troupe.machine.StateMachine;
import io.troupe.machine.StateView;
import io.troupe.model.NodeId;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreException;
import io.troupe.node.process.Version;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.Backups;
import io.troupe.persistence.backup.Continuation;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.wal.WalException;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;

/**
 * Builds the data directory of a member of a new cluster from a backup. The files of the state are
 * copied as they are, and the log after the backup is applied up to the goal; then its members are
 * replaced by those of the new cluster. All members that are built in this way have the same state.
 */
final class BackupRestore {
  private static final long CACHE_BYTES = 1 << 20;

  private final Backups backups;
  private final BackupManifest backup;
  private final LogReplay log;
  private final RestoreGoal goal;

  BackupRestore(Backups backups, Continuation log, RestoreGoal goal) {
    this.backups = backups;
    this.backup = log.backup();
    this.log = new LogReplay(log, goal);
    this.goal = goal;
  }

  /**
   * Builds one member.
   *
   * @param copied receives the number of bytes so far
   * @return what it contains
   * @throws CommandException if it is impossible; nothing remains that was not there before
   */
  LogReplay.Reached run(TargetDirectory target, NewCluster cluster, LongConsumer copied) {
    target.requireUnused();
    AtomicReference<LogReplay.Reached> reached = new AtomicReference<>();
    try {
      target.build(
          new TargetDirectory.Content() {
            @Override
            public void prepare(Path state) {
              backups.restore(backup, state, copied);
            }

            @Override
            public TargetDirectory.Built write(OrderedStore store) {
              reached.set(replay(store));
              return newMembers(store, cluster);
            }
          });
      return Objects.requireNonNull(reached.get());
    } catch (BackupException e) {
      throw new CommandException(String.valueOf(e.getMessage()));
    } catch (IOException | StoreException | DataDirException | WalException e) {
      throw new CommandException("cannot restore to " + target.dataDir() + ": " + e.getMessage());
    }
  }

  private LogReplay.Reached replay(OrderedStore store) {
    LogReplay.Reached reached;
    try (StateMachine machine = new StateMachine(store, CACHE_BYTES)) {
      reached = log.apply(machine);
    }
    if (!reached.contains(goal)) {
      throw new CommandException(
          "cannot reach "
              + goal
              + ": backup "
              + backup.id()
              + " and the log after it end at revision "
              + reached.revision());
    }
    return reached;
  }

  private TargetDirectory.Built newMembers(OrderedStore store, NewCluster cluster) {
    long index;
    long term;
    StateView state;
    try (StateMachine machine = new StateMachine(store, CACHE_BYTES)) {
      state = machine.view();
      index = state.appliedIndex() + 1;
      term = state.appliedTerm();
      // Without the log the backup may contain a part of the next entry, which this removes.
      machine.noop(index, term);
      machine.commit();
    }
    SortedMap<NodeId, List<String>> peerUrls = cluster.peerUrls();
    StoreBatch rows = new StoreBatch();
    state.members().keySet().forEach(id -> rows.delete(Space.META, MetaRows.member(id)));
    state.peerUrls().keySet().forEach(id -> rows.delete(Space.META, MetaRows.peerUrls(id)));
    peerUrls.forEach(
        (id, urls) ->
            rows.put(
                Space.META,
                MetaRows.peerUrls(id),
                MetaRows.value(urls.stream().sorted().toList())));
    Membership membership =
        new Membership(index, peerUrls.keySet(), Set.of(), Set.of(), Set.of(), Set.of());
    rows.put(Space.META, MetaRows.MEMBERSHIP, MembershipCodec.encode(membership));
    store.write(rows);
    return new TargetDirectory.Built(cluster.identity(Version.product()), index, term);
  }
}
