package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import java.util.List;

/**
 * What the shell of a {@link RaftCore} shall do. All lists are immutable. An implementation never
 * calls the core from inside one of these methods: it queues.
 */
public interface RaftEffects {
  /**
   * Appends, makes durable, then sends. Work of several calls may be forced together, but in the
   * order of the calls; a message of {@code thenSend} leaves when everything of this and of all
   * earlier calls is durable. Each call is answered by {@link RaftCore#persisted}, calls without
   * entries too.
   *
   * @param state replaces what was stored before
   * @param entries contiguous; the first one drops every earlier entry at its index and above; may
   *     be empty
   * @param thenSend messages that promise durability, in the order to send them
   */
  void persist(HardState state, List<Entry> entries, List<Outgoing> thenSend);

  /** Sends now. May be lost, late, repeated or overtaken; the core repairs that. */
  void send(NodeId to, PeerMessage message);

  /**
   * Hands over entries for good: committed, and durable on this member, each index once and in
   * order. The shell answers with {@link RaftCore#applied}.
   */
  void apply(List<Entry> committed);

  /** The read may be served as soon as {@code readIndex} is applied here. */
  void releaseRead(long readId, long readIndex);

  /** The read will not be released. Asking again is safe. */
  void rejectRead(long readId, Refusal reason);

  /** The proposal is in no log and never will be. Unknown ids and repetitions are to be ignored. */
  void reject(RequestId id, Refusal reason);

  /** Role, term or leader changed. Told once for each input, after its other effects. */
  void roleChanged(RaftStatus status);
}
