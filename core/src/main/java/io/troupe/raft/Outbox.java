package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;

/** What one input wants on disk, and the messages that promise it. Becomes at most one persist. */
final class Outbox {
  private final RaftEffects effects;
  private final RaftLog log;
  private final PendingPersists disk;
  private final List<Outgoing> promises = new ArrayList<>();
  private List<Entry> staged = List.of();
  private boolean hardStateChanged;

  Outbox(RaftEffects effects, RaftLog log, PendingPersists disk) {
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
    Invariant.require(staged.isEmpty(), "two appends in one input");
    staged = entries;
  }

  /** Sends when everything up to the end of this input is durable. */
  void promise(NodeId to, PeerMessage message) {
    promises.add(new Outgoing(to, message));
  }

  /** The input ends. */
  void flush(long term, NodeId vote) {
    boolean changed = hardStateChanged || !staged.isEmpty();
    // A promise may speak of what an earlier input wrote, so it queues behind that.
    if (changed || (!promises.isEmpty() && !disk.isEmpty())) {
      long lastEntry = staged.isEmpty() ? 0 : staged.get(staged.size() - 1).index();
      disk.issued(term, lastEntry, log.lastIndex());
      effects.persist(new HardState(term, vote, log.commit()), staged, List.copyOf(promises));
    } else {
      for (Outgoing promise : promises) {
        effects.send(promise.to(), promise.message());
      }
    }
    hardStateChanged = false;
    staged = List.of();
    promises.clear();
  }
}
