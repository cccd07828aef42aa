package io.troupe.raft;

import io.troupe.model.Refusal;

/**
 * The effects that the caller of a {@link RaftCore} must execute. An implementation never calls the
 * core from inside one of these methods: it queues.
 */
public interface RaftEffects extends RaftActorEffects {
  /** The read may be served when {@code readIndex} is applied here. */
  void releaseRead(long readId, long readIndex);

  /** The read will not be released. It is safe to request it again. */
  void rejectRead(long readId, Refusal reason);
}
