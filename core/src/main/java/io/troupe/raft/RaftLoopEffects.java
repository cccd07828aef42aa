package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.List;

/**
 * The effects that the shell of a {@link RaftLoop} must execute, in the order of the calls. An
 * implementation never calls an input of the loop from inside one of these methods: it queues. Each
 * caller gets one reply at most.
 *
 * @param <C> identifies the caller of a proposal
 * @param <R> identifies a reader
 * @param <T> identifies the caller of a transfer of leadership
 */
public interface RaftLoopEffects<C, R, T> extends RaftActorEffects {
  // ---- time

  /** The monotonic clock of this process in ns, from any origin. Does not move back. */
  long nanoTime();

  /** Calls {@link RaftLoop#flushProposals} after all messages that already wait. */
  void flushLater();

  /** Calls {@link RaftLoop#flushDelayedAppends} after a few milliseconds. */
  void flushDelayedAppendsLater();

  /**
   * The process did not run for longer than an election timeout. A leader confirms its term before
   * it proposes.
   */
  void paused(long idleNanos);

  // ---- status

  /** The status after an input; it may have changed. */
  void status(RaftStatus status);

  /**
   * This member became leader, or is no longer leader.
   *
   * @param term term in which it leads, or in which it stopped leading
   */
  void leading(boolean leads, long term);

  /** A snapshot that another member sent without its content was dropped. */
  void snapshotDropped(NodeId from);

  // ---- callers of proposals

  /**
   * Registers the callers of the proposals that are proposed next. Must reach the state machine
   * before their entries and before their refusals.
   *
   * @param term term in which they are proposed here or forwarded to that term's leader
   */
  void expect(List<C> callers, long term);

  /** Replies that the proposal is in no log and never will be. The caller is not registered. */
  void proposalRefused(C caller, Refusal reason);

  // ---- readers

  /** Replies that the state may be read now: it has applied {@code index}. */
  void readReady(R reader, long index);

  /** Replies as {@link #readReady} when the state has applied {@code index}. */
  void awaitApplied(R reader, long index);

  /** Replies that there is no read index. */
  void readFailed(R reader, Refusal reason);

  // ---- callers of transfers of leadership

  /** Replies that the other member leads, or that this member does not lead any more. */
  void transferDone(T caller);

  /** Replies that the transfer failed. */
  void transferFailed(T caller, Refusal reason);
}
