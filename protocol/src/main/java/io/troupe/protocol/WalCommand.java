package io.troupe.protocol;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.raft.Outgoing;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;

/** Messages to the WAL actor. */
public sealed interface WalCommand {
  /**
   * Appends, makes durable, notifies the raft actor, then sends.
   *
   * @param number number for {@link RaftCommand.Durable}; counts up
   * @param entries contiguous; the first one replaces everything at its index and above; may be
   *     empty
   * @param messagesAfterPersist messages that require durability
   */
  record Append(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist)
      implements WalCommand {}

  /**
   * Reads entries that were durable when this message was sent; the reply is {@link
   * RaftCommand.LogRead}.
   */
  record ReadLog(NodeId to, long from, long until, long maxBytes) implements WalCommand {}

  /**
   * Reads committed entries for a backup; entries that a snapshot covers may be missing.
   *
   * @param until index after the last one; all below it are durable
   * @param maxBytes the read stops with the entry that reaches this size
   */
  record ReadEntries(long from, long until, long maxBytes, ActorRef<LogEntries> replyTo)
      implements WalCommand {}

  /**
   * Replaces the log: makes everything before this durable, then removes all entries. The snapshot
   * at {@code index} is durable.
   *
   * @param before is stored while the old log exists, with the old log's commit index
   * @param state is stored when the log has restarted
   */
  record Install(HardState before, HardState state, long index) implements WalCommand {}

  /** A durable snapshot covers everything below {@code index}. */
  record DropBefore(long index) implements WalCommand {}

  /** Internal messages. */
  non-sealed interface Private extends WalCommand {}
}
