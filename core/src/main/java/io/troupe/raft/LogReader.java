package io.troupe.raft;

import io.troupe.model.Entry;
import java.util.List;

/**
 * Entries that have left memory, for a follower far behind. Called on the caller's thread of {@link
 * RaftCore}, so it must be quick or answer with nothing.
 */
@FunctionalInterface
public interface LogReader {
  /** Has nothing: a follower that needs old entries is sent a snapshot. */
  LogReader NONE = (from, until, maxBytes) -> List.of();

  /**
   * Reads a run of durable entries.
   *
   * @param from first index, inclusive
   * @param until index after the last one wanted; greater than {@code from}
   * @param maxBytes stop when the data is about this long; at least one entry comes if any can
   * @return contiguous entries from {@code from} on, oldest first, immutable; empty if they cannot
   *     be had
   */
  List<Entry> read(long from, long until, long maxBytes);
}
