package io.troupe.protocol;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.raft.Outgoing;
import java.util.List;

/** What the wal actor takes. */
public sealed interface WalCommand {
  /**
   * Appends, makes durable, tells the raft actor, then sends.
   *
   * @param number comes back in {@link RaftCommand.Durable}; counts up
   * @param entries contiguous; the first drops everything at its index and above; may be empty
   * @param messagesAfterPersist messages that promise durability
   */
  record Append(long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist)
      implements WalCommand {}

  /**
   * Reads entries that were durable when this was told; answered with {@link RaftCommand.LogRead}.
   */
  record ReadLog(NodeId to, long from, long until, long maxBytes) implements WalCommand {}

  /**
   * Replaces the log: makes everything before this durable, then drops all entries. The snapshot at
   * {@code index} is durable.
   *
   * @param before is stored while the old log is in place, with the old log's commit index
   * @param state is stored when the log has restarted
   */
  record Install(HardState before, HardState state, long index) implements WalCommand {}

  /** A durable snapshot covers everything below {@code index}. */
  record DropBefore(long index) implements WalCommand {}

  /** Only the owner's own messages. */
  non-sealed interface Private extends WalCommand {}
}
