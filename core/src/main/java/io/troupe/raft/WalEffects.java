package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import java.util.List;

/** The effects that the shell of a {@link WalCore} must execute, each before it returns. */
public interface WalEffects {
  /**
   * Appends a record to the log. Not durable before {@link #sync}.
   *
   * @param state replaces the stored state
   * @param entries contiguous; the first one replaces every earlier entry at its index and above
   */
  void write(HardState state, List<Entry> entries);

  /** Appends a record after which the log has no entries and continues after {@code index}. */
  void restartAfter(long index);

  /** Makes all appended records durable, in their order. */
  void sync();

  /** Calls {@link WalCore#flush} after all messages that already wait. */
  void flushLater();

  /** Everything up to this write of the raft actor is durable. */
  void durable(long number);

  /** Sends a message that required durability. */
  void send(Outgoing message);

  /** A snapshot has replaced the log: the actors must stop and restart from the disk. */
  void installed();
}
