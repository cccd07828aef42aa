package io.troupe.node.offline;

import io.troupe.etcd.DatabaseImport;
import io.troupe.etcd.EtcdMembers;
import io.troupe.etcd.MemberChange;
import io.troupe.etcd.RaftRequest;
import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.etcd.wal.DamagedLogException;
import io.troupe.etcd.wal.EtcdEntry;
import io.troupe.etcd.wal.EtcdLog;
import io.troupe.machine.StateMachine;
import io.troupe.machine.StateView;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.StoreException;
import io.troupe.node.process.Version;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.wal.WalException;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.txn.ResponseSpace;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Builds a data directory from that of a stopped etcd member: the database, and the entries of the
 * log that etcd had not yet written to it. The entries are applied by the state machine, so that
 * they have the same effect as here.
 *
 * <p>All entries of the log count, also those that the member did not know to be committed: the
 * commit index is saved later than the entries, so acknowledged writes may be among them (decision
 * 0215).
 */
final class Migration {
  private static final long CACHE_BYTES = 16L << 20;
  private static final long BATCH_BYTES = 4L << 20;
  private static final String REMEDY =
      "; start etcd, save a snapshot (etcdctl snapshot save) and restore that (snapshot restore)";

  private final Source source;
  private final TargetDirectory target;
  private final @Nullable String name;
  private final @Nullable NewCluster newCluster;
  private @Nullable Migrated migrated;

  /**
   * Files of etcd.
   *
   * @param wal directory of the log
   */
  record Source(Path database, Path wal) {}

  /**
   * What was built.
   *
   * @param records records of the database
   * @param entries entries of the log that were applied
   * @param assumed those of them that the member did not know to be committed
   */
  record Migrated(
      MemberIdentity identity,
      long records,
      long entries,
      long assumed,
      long lastIndex,
      long lastTerm,
      long revision,
      long compactedRevision) {}

  /**
   * Prepares a migration.
   *
   * @param name member to build; null: the owner of the files. With a new cluster it is ignored
   * @param newCluster null if members and ids are kept
   */
  Migration(
      Source source,
      TargetDirectory target,
      @Nullable String name,
      @Nullable NewCluster newCluster) {
    this.source = source;
    this.target = target;
    this.name = name;
    this.newCluster = newCluster;
  }

  /**
   * Runs the migration.
   *
   * @param progress receives the number of records so far, now and then
   * @throws CommandException if it is impossible; nothing remains that was not there before
   */
  Migrated run(LongConsumer progress) {
    target.requireUnused();
    try (DatabaseLock lock = lock();
        BoltReader database = BoltReader.open(source.database())) {
      DatabaseImport.Applied applied = DatabaseImport.Applied.of(database);
      try (EtcdLog log = EtcdLog.open(source.wal(), applied.index())) {
        if (log.snapshotIndex() > applied.index()) {
          throw new CommandException(
              "the log contains a snapshot of entry "
                  + log.snapshotIndex()
                  + " that etcd has not installed in its database, which contains the entries up to "
                  + applied.index()
                  + ": start etcd once so that it installs the snapshot, or migrate another member");
        }
        if (log.lastIndex() == 0) {
          throw new CommandException("the etcd member has no data yet");
        }
        if (log.torn() != null) {
          System.err.println("ignored the torn end of the log: " + log.torn());
        }
        target.build(store -> migrate(database, log, applied, store, progress));
      }
      return Objects.requireNonNull(migrated);
    } catch (DamagedDatabaseException e) {
      throw new CommandException(source.database() + " is damaged: " + e.getMessage());
    } catch (DamagedLogException e) {
      throw new CommandException("the log is damaged: " + e.getMessage());
    } catch (NoSuchFileException e) {
      throw new CommandException(
          e.getFile() + ": no such file or directory; not a data directory of etcd?");
    } catch (IOException | StoreException | DataDirException | WalException e) {
      throw new CommandException("cannot migrate to " + target.dataDir() + ": " + e.getMessage());
    }
  }

  /** A running etcd never releases the lock, so there is nothing to wait for. */
  private DatabaseLock lock() throws IOException {
    DatabaseLock.requireUnusedLog(source.wal());
    return DatabaseLock.of(source.database(), Duration.ofMillis(1));
  }

  private TargetDirectory.Built migrate(
      BoltReader database,
      EtcdLog log,
      DatabaseImport.Applied applied,
      OrderedStore store,
      LongConsumer progress)
      throws IOException {
    NewCluster fresh = newCluster;
    EtcdMembers members =
        fresh == null ? EtcdMembers.read(database) : EtcdMembers.ofVoters(fresh.peerUrls());
    long term = applied.term();
    if (term == 0 && applied.index() > 0) {
      // etcd before 3.5 does not save it.
      term = Math.max(1, log.termAfter());
    }
    DatabaseImport.Imported imported =
        DatabaseImport.read(
            database,
            store,
            new DatabaseImport.Cluster(members, applied.index(), term),
            DatabaseImport.Revisions.UNCHANGED,
            progress);
    try (StateMachine machine = new StateMachine(store, CACHE_BYTES)) {
      for (long index = applied.index() + 1; index <= log.lastIndex(); index++) {
        EtcdEntry entry = log.entry(index);
        term = entry.term();
        try {
          apply(machine, entry);
        } catch (CommandException | DamagedDatabaseException e) {
          throw new CommandException(
              "entry " + index + " of the log cannot be applied: " + e.getMessage() + REMEDY);
        }
        if (machine.pendingBytes() >= BATCH_BYTES) {
          machine.commit();
        }
      }
      machine.commit();
      MemberIdentity identity =
          fresh == null ? identity(log, machine.view()) : fresh.identity(Version.product());
      migrated =
          new Migrated(
              identity,
              imported.records(),
              log.lastIndex() - applied.index(),
              log.lastIndex() - Math.max(applied.index(), log.commit()),
              log.lastIndex(),
              term,
              machine.currentRevision(),
              machine.reader().view().compactedRevision());
      return new TargetDirectory.Built(
          identity, log.lastIndex(), Math.max(1, Math.max(term, log.term())));
    }
  }

  private void apply(StateMachine machine, EtcdEntry entry) {
    long index = entry.index();
    long term = entry.term();
    switch (entry.kind()) {
      case REQUEST -> {
        RaftOperations.Requested requested =
            entry.data().isEmpty() ? null : RaftOperations.of(RaftRequest.decode(entry.data()));
        boolean ofOldMembers =
            requested != null
                && newCluster != null
                && requested.operation() instanceof Operation.PublishMember;
        if (requested == null || ofOldMembers) {
          machine.noop(index, term);
        } else {
          machine.apply(
              index, term, requested.requester(), requested.operation(), ResponseSpace.none());
        }
      }
      case MEMBER_CHANGE -> {
        // The view is that of the last commit.
        machine.commit();
        ConfEntry change =
            newCluster != null
                ? null
                : MemberChanges.of(MemberChange.decode(entry.data()), index, machine.view());
        if (change == null) {
          machine.noop(index, term);
        } else {
          machine.confChange(index, term, change);
        }
      }
      case JOINT_CHANGE -> throw new CommandException("it is a joint change of members");
    }
  }

  private MemberIdentity identity(EtcdLog log, StateView state) {
    NodeId self = name == null ? new NodeId(log.memberId()) : named(name, state);
    if (!state.membership().contains(self)) {
      throw new CommandException(
          "member " + self + " was removed from its cluster: migrate another member");
    }
    MemberAttributes published = state.members().get(self);
    return new MemberIdentity(
        log.clusterId(),
        self,
        published == null ? "" : published.name(),
        state.peerUrls().getOrDefault(self, List.of()),
        false,
        state.peerUrls(),
        Version.product());
  }

  private static NodeId named(String name, StateView state) {
    List<NodeId> found =
        state.members().values().stream()
            .filter(member -> member.name().equals(name))
            .map(MemberAttributes::member)
            .toList();
    if (found.size() != 1) {
      throw new CommandException(
          (found.isEmpty() ? "no member has" : "several members have")
              + " the name \""
              + name
              + "\"; the members are "
              + state.members().values().stream().map(MemberAttributes::name).toList());
    }
    return found.get(0);
  }
}
