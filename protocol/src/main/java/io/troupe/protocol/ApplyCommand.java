package io.troupe.protocol;

import io.troupe.model.Entry;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.Proposal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Messages to the apply actor. */
public sealed interface ApplyCommand {
  /**
   * Expected replies of entries. Must be sent before any of those entries.
   *
   * @param term term in which they were proposed here or forwarded to that term's leader. If an
   *     entry of a later term is applied before them, they never will be applied: their reply is
   *     NotProposed with NO_LEADER
   * @param nanos time of the proposal, as {@link System#nanoTime}
   */
  record Expect(List<Expectation> expectations, long term, long nanos) implements ApplyCommand {}

  /**
   * The reply of the entry with {@code id} is sent to {@code replyTo}.
   *
   * @param response counts its records; null if it needs none
   */
  record Expectation(
      RequestId id, ReplyTo<ProposeReply> replyTo, MemoryBudget.@Nullable Share response) {
    /** For a reply without records. */
    public Expectation(RequestId id, ReplyTo<ProposeReply> replyTo) {
      this(id, replyTo, null);
    }
  }

  /**
   * Proposals of other members, some of which belong to a trace. Must be sent before their entries.
   *
   * @param nanos time when the leader accepted them, as {@link System#nanoTime}
   */
  record Trace(List<Proposal> proposals, long nanos) implements ApplyCommand {}

  /** The proposal was refused and will never be applied; its requester gets a refusal. */
  record Refuse(RequestId id, Refusal reason) implements ApplyCommand {}

  /**
   * Committed entries, each index once and in order.
   *
   * @param nanos time when they were known to be committed, as {@link System#nanoTime}
   */
  record Apply(List<Entry> committed, long nanos) implements ApplyCommand {}

  /**
   * Replies to {@code replyTo} when the state has applied {@code index}.
   *
   * @param confirmedNanos time when that index was known, for the reply
   */
  record AwaitApplied(long index, long confirmedNanos, ReplyTo<ReadReply> replyTo)
      implements ApplyCommand {}

  /**
   * This member became leader, or is no longer leader. Forwarded to the lease actor in order with
   * the lease changes.
   *
   * @param term term in which it leads, or in which it stopped leading
   */
  record Leading(boolean leading, long term) implements ApplyCommand {}

  /**
   * Digest of the leader's state, to be compared with the digest of this member.
   *
   * @param handled as in {@link RaftCommand.FromPeer}
   */
  record LeaderDigest(PeerPayload.StateDigest digest, Runnable handled) implements ApplyCommand {}

  /** Internal messages: timers and adapted replies. */
  non-sealed interface Private extends ApplyCommand {}
}
