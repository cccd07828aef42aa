package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import java.util.ArrayList;
import java.util.List;

/**
 * The rules of the wal actor: group commit, and the steps that replace the log by a snapshot. A
 * flush is queued after the appends that already wait, so one forced write serves them all. One
 * thread.
 */
public final class WalCore {
  private final WalEffects effects;

  /** Messages of each append that is not durable yet. */
  private final List<List<Outgoing>> unsynced = new ArrayList<>();

  private long lastNumber;

  public WalCore(WalEffects effects) {
    this.effects = effects;
  }

  /** Appends, as {@link RaftEffects#persist}. */
  public void append(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist) {
    effects.write(state, entries);
    lastNumber = number;
    unsynced.add(messagesAfterPersist);
    if (unsynced.size() == 1) {
      effects.flushLater();
    }
  }

  /** Makes the appends durable and completes them; does nothing without any. */
  public void flush() {
    if (unsynced.isEmpty()) {
      // An installation was handled before and has forced everything.
      return;
    }
    effects.sync();
    // First the messages: the leader of this follower waits for them.
    for (List<Outgoing> messages : unsynced) {
      messages.forEach(effects::send);
    }
    unsynced.clear();
    // One reply covers all appends before it.
    effects.durable(lastNumber);
  }

  /**
   * Replaces the log by a snapshot, as {@link RaftEffects#installSnapshot}. With this order a crash
   * at any point leaves the old log or the new one: first term and vote, with the old log's commit
   * index; then the restart, one record; then the full state.
   *
   * @param index of the snapshot
   */
  public void install(HardState before, HardState state, long index) {
    flush();
    effects.write(before, List.of());
    effects.restartAfter(index);
    effects.write(state, List.of());
    effects.sync();
    effects.installed();
  }
}
