package io.troupe.raft;

import io.troupe.model.Refusal;
import java.util.HashMap;
import java.util.Map;

/**
 * Readers that wait for a read index. Each gets one reply at most. One thread.
 *
 * @param <R> identifies a reader
 */
final class PendingReads<R> {
  private final RaftLoopEffects<?, R, ?> effects;
  private final Map<Long, R> waiting = new HashMap<>();
  private long lastId;

  PendingReads(RaftLoopEffects<?, R, ?> effects) {
    this.effects = effects;
  }

  /** Adds a reader. Returns the id of its read, unique in this run. */
  long add(R reader) {
    long id = ++lastId;
    waiting.put(id, reader);
    return id;
  }

  /** The read has an index; the state has applied another one. An unknown read is ignored. */
  void release(long id, long readIndex, long applied) {
    R reader = waiting.remove(id);
    if (reader == null) {
      return;
    }
    if (readIndex <= applied) {
      effects.readReady(reader, readIndex);
    } else {
      effects.awaitApplied(reader, readIndex);
    }
  }

  /** The read gets no index. An unknown read is ignored. */
  void refuse(long id, Refusal reason) {
    R reader = waiting.remove(id);
    if (reader != null) {
      effects.readFailed(reader, reason);
    }
  }

  /** Refuses all reads. */
  void refuseAll(Refusal reason) {
    waiting.values().forEach(reader -> effects.readFailed(reader, reason));
    waiting.clear();
  }
}
