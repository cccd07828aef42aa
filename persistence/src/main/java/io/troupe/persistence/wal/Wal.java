package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import java.util.List;

/**
 * The write-ahead log of one member: Raft's entries and hard state. Blocking; one caller thread
 * (any thread may call {@link #sizeOnDisk()} and {@link #status()}).
 *
 * <p>After any {@link WalException} the log is permanently broken: every later call except {@link
 * #close()} throws again, nothing is retried, and nothing that was not yet synced may be
 * acknowledged. The caller must not be interrupted: an interrupt inside a file operation breaks the
 * log.
 */
public interface Wal extends AutoCloseable {

  /**
   * Appends to the log. Durable only after the next {@link #sync()}.
   *
   * @param state the current hard state; written if it differs from the last one
   * @param entries contiguous, oldest first; may be empty. The first index is at most one above the
   *     last entry and above the compacted index; entries of the log at or above it are removed
   * @throws WalException DISK_FULL, IO, BROKEN or CLOSED
   * @throws IllegalArgumentException if the indexes do not fit the log, or an entry is larger than
   *     {@link WalSettings#MAX_ENTRY_BYTES}; nothing was written
   */
  void append(HardState state, List<Entry> entries);

  /**
   * Makes everything appended so far durable. Does nothing if it already is.
   *
   * @throws WalException on failure; the state of the data appended since the last success is
   *     unknown
   */
  void sync();

  /**
   * A durable snapshot covers every entry below {@code index}: removes whole old segments. Also
   * syncs if it removes any. The hard state and the entries from {@code index} on stay.
   *
   * @param index first index that is still needed, 1 or more; if it is more than one above the last
   *     entry, the log continues at {@code index}
   */
  void dropBefore(long index);

  /**
   * A durable snapshot at {@code index} replaced the log: removes all entries, also those above it;
   * the next entry is {@code index + 1}. For a follower that installed a leader's snapshot which
   * contradicts its own entries. Syncs.
   */
  void restartAfter(long index);

  /**
   * Prepares a read of synced entries.
   *
   * @param from first index, inclusive
   * @param until index after the last requested one
   * @param maxBytes the read stops with the entry that reaches this size
   * @return must be run on another thread
   */
  LogRead entries(long from, long until, long maxBytes);

  /** Size of the log on disk in bytes. */
  long sizeOnDisk();

  /** Status for metrics and logs. */
  WalStatus status();

  /** Writes an end record, syncs and releases the files. A broken log is only released. */
  @Override
  void close();
}
