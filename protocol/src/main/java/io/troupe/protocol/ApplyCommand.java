package io.troupe.protocol;

import io.troupe.model.Entry;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.Proposal;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/** What the apply actor takes. */
public sealed interface ApplyCommand {
  /**
   * The answers of entries that may come. Told before any of those entries.
   *
   * @param term in which they were proposed here or forwarded to that term's leader. When an entry
   *     of a later term is applied and they were not, they never will be: their answer is
   *     NotProposed with NO_LEADER
   * @param nanos when they were proposed, as {@link System#nanoTime}
   */
  record Expect(List<Expectation> expectations, long term, long nanos) implements ApplyCommand {}

  /**
   * The reply of the entry that carries {@code id} goes to {@code replyTo}.
   *
   * @param response counts its records; null if it needs none
   */
  record Expectation(
      RequestId id, ActorRef<ProposeReply> replyTo, MemoryBudget.@Nullable Share response) {
    /** Of a reply without records. */
    public Expectation(RequestId id, ActorRef<ProposeReply> replyTo) {
      this(id, replyTo, null);
    }
  }

  /**
   * Proposals of other members that may come, some of which belong to a trace. Told before their
   * entries.
   *
   * @param nanos when the leader took them, as {@link System#nanoTime}
   */
  record Trace(List<Proposal> proposals, long nanos) implements ApplyCommand {}

  /** The proposal was refused and will never be applied; whoever waits for it is told. */
  record Refuse(RequestId id, Refusal reason) implements ApplyCommand {}

  /**
   * Committed entries, each index once and in order.
   *
   * @param nanos when they were known to be committed, as {@link System#nanoTime}
   */
  record Apply(List<Entry> committed, long nanos) implements ApplyCommand {}

  /**
   * Tells {@code replyTo} once the state holds {@code index}.
   *
   * @param confirmedNanos when that index was known, for the answer
   */
  record AwaitApplied(long index, long confirmedNanos, ActorRef<ReadReply> replyTo)
      implements ApplyCommand {}

  /**
   * This member leads from now on, or ceased to. Passed on to the lease actor in its place among the
   * lease changes.
   *
   * @param term in which it leads, or in which it ceased to
   */
  record Leading(boolean leading, long term) implements ApplyCommand {}

  /**
   * What this member's leader said of its state; to be compared with this one.
   *
   * @param handled as in {@link RaftCommand.FromPeer}
   */
  record LeaderDigest(PeerPayload.StateDigest digest, Runnable handled) implements ApplyCommand {}

  /** Only the owner's timers and adapted replies. */
  non-sealed interface Private extends ApplyCommand {}
}
