package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one input wants on disk, and the messages that promise it. Becomes at most one persist. */
final class PersistBatch {
  private final RaftEffects effects;
  private final RaftLog log;
  private final PendingPersists disk;
  private final List<Outgoing> promises = new ArrayList<>();
  private List<Entry> staged = List.of();
  private @Nullable SnapshotMark install;
  private long commitBeforeInstall;
  private boolean hardStateChanged;

  PersistBatch(RaftEffects effects, RaftLog log, PendingPersists disk) {
    this.effects = effects;
    this.log = log;
    this.disk = disk;
  }

  /** Term or vote changed. A new commit index alone is no reason to write: it rides along. */
  void hardStateChanged() {
    hardStateChanged = true;
  }

  /** Entries that are in the log since this input. */
  void stage(List<Entry> entries) {
    Invariant.require(install == null, "append behind a snapshot in one input");
    if (staged.isEmpty()) {
      staged = entries;
      return;
    }
    long last = staged.get(staged.size() - 1).index();
    long next = entries.get(0).index();
    Invariant.require(next == last + 1, "two appends in one input do not meet", last, next);
    List<Entry> both = new ArrayList<>(staged);
    both.addAll(entries);
    staged = List.copyOf(both);
  }

  /**
   * A snapshot that replaces the log since this input.
   *
   * @param commitBefore commit index of the log that it replaces
   */
  void install(SnapshotMark mark, long commitBefore) {
    Invariant.require(staged.isEmpty() && install == null, "snapshot behind an append");
    install = mark;
    commitBeforeInstall = commitBefore;
  }

  /** Sends when everything up to the end of this input is durable. */
  void promise(NodeId to, PeerMessage message) {
    promises.add(new Outgoing(to, message));
  }

  /** The input ends. */
  void flush(long term, NodeId vote) {
    SnapshotMark mark = install;
    if (mark != null) {
      long number = disk.installIssued(term, mark.index());
      effects.installSnapshot(
          number,
          new HardState(term, vote, commitBeforeInstall),
          new HardState(term, vote, log.commit()),
          mark,
          List.copyOf(promises));
      clear();
      return;
    }
    boolean changed = hardStateChanged || !staged.isEmpty();
    // A promise may speak of what an earlier input wrote, so it queues behind that.
    if (changed || (!promises.isEmpty() && !disk.isEmpty())) {
      long number = disk.issued(term, log.lastIndex());
      effects.persist(
          number, new HardState(term, vote, log.commit()), staged, List.copyOf(promises));
    } else {
      for (Outgoing promise : promises) {
        effects.send(promise.to(), promise.message());
      }
    }
    clear();
  }

  private void clear() {
    hardStateChanged = false;
    staged = List.of();
    install = null;
    promises.clear();
  }
}
