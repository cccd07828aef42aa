package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import java.util.List;

/**
 * The write-ahead log of one member: Raft's entries and hard state. Blocking; one caller thread
 * (any thread may call {@link #sizeOnDisk()} and {@link #status()}).
 *
 * <p>After any {@link WalException} the log is broken for good: every later call but {@link
 * #close()} throws again, nothing is retried, and nothing that was not yet synced may be
 * acknowledged. The caller must not be interrupted: an interrupt inside a file operation breaks the
 * log.
 */
public interface Wal extends AutoCloseable {

  /**
   * Adds to the log. Durable only after the next {@link #sync()}.
   *
   * @param state the current hard state; written if it differs from the last one
   * @param entries contiguous, oldest first; may be empty. The first index is at most one behind
   *     the last entry and above the compacted index; entries of the log at or above it are dropped
   * @throws WalException DISK_FULL, IO, BROKEN or CLOSED
   * @throws IllegalArgumentException if the indexes do not fit the log, or an entry is larger than
   *     {@link WalSettings#MAX_ENTRY_BYTES}; nothing was written
   */
  void append(HardState state, List<Entry> entries);

  /**
   * Makes everything appended so far survive a power cut. Does nothing if that is so already.
   *
   * @throws WalException if it cannot; what was appended since the last success is unknown
   */
  void sync();

  /**
   * A durable snapshot covers every entry below {@code index}: whole old segments go. Also syncs
   * when something goes. The hard state and entries from {@code index} on stay.
   *
   * @param index first index that is still needed, 1 or more; when it lies more than one behind the
   *     last entry the log continues at {@code index}
   */
  void dropBefore(long index);

  /**
   * A durable snapshot at {@code index} replaced the log: all entries go, also those above it, and
   * the next entry is {@code index + 1}. For a follower that installed a leader's snapshot which
   * its own entries contradict. Syncs.
   */
  void restartAfter(long index);

  /**
   * Prepares a read of entries that were synced.
   *
   * @param from first index, inclusive
   * @param until index behind the last one wanted
   * @param maxBytes the read stops with the entry that reaches it
   * @return to be run on another thread
   */
  LogRead entries(long from, long until, long maxBytes);

  /** Bytes that the log takes on disk. */
  long sizeOnDisk();

  /** Figures for metrics and logs. */
  WalStatus status();

  /** Marks a clean end, syncs and releases the files. A broken log is only released. */
  @Override
  void close();
}
