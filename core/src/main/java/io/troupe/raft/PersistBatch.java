package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one input must persist, and the messages that require it. Becomes at most one persist. */
final class PersistBatch {
  private final RaftEffects effects;
  private final RaftLog log;
  private final PendingPersists disk;
  private final List<Outgoing> afterPersist = new ArrayList<>();
  private List<Entry> staged = List.of();
  private @Nullable SnapshotMark install;
  private long commitBeforeInstall;
  private boolean hardStateChanged;

  PersistBatch(RaftEffects effects, RaftLog log, PendingPersists disk) {
    this.effects = effects;
    this.log = log;
    this.disk = disk;
  }

  /**
   * Term or vote changed. A new commit index alone does not cause a write: it is saved with the
   * next one.
   */
  void hardStateChanged() {
    hardStateChanged = true;
  }

  /** Entries that this input appended to the log. */
  void stage(List<Entry> entries) {
    Invariant.require(install == null, "append after a snapshot in one input");
    if (staged.isEmpty()) {
      staged = entries;
      return;
    }
    long last = staged.get(staged.size() - 1).index();
    long next = entries.get(0).index();
    Invariant.require(next == last + 1, "gap between two appends in one input", last, next);
    List<Entry> both = new ArrayList<>(staged);
    both.addAll(entries);
    staged = List.copyOf(both);
  }

  /**
   * A snapshot that replaced the log in this input.
   *
   * @param commitBefore commit index of the log that it replaces
   */
  void install(SnapshotMark mark, long commitBefore) {
    Invariant.require(staged.isEmpty() && install == null, "snapshot after an append in one input");
    install = mark;
    commitBeforeInstall = commitBefore;
  }

  /** Sends the message when everything up to the end of this input is durable. */
  void sendAfterPersist(NodeId to, PeerMessage message) {
    afterPersist.add(new Outgoing(to, message));
  }

  /** Completes the input. */
  void flush(long term, NodeId vote) {
    SnapshotMark mark = install;
    if (mark != null) {
      long number = disk.installIssued(term, mark.index());
      effects.installSnapshot(
          number,
          new HardState(term, vote, commitBeforeInstall),
          new HardState(term, vote, log.commit()),
          mark,
          List.copyOf(afterPersist));
      clear();
      return;
    }
    boolean changed = hardStateChanged || !staged.isEmpty();
    // A message may depend on the writes of an earlier input, so it must wait for them.
    if (changed || (!afterPersist.isEmpty() && !disk.isEmpty())) {
      long number = disk.issued(term, log.lastIndex());
      effects.persist(
          number, new HardState(term, vote, log.commit()), staged, List.copyOf(afterPersist));
    } else {
      for (Outgoing outgoing : afterPersist) {
        effects.send(outgoing.to(), outgoing.message());
      }
    }
    clear();
  }

  private void clear() {
    hardStateChanged = false;
    staged = List.of();
    install = null;
    afterPersist.clear();
  }
}
