package io.troupe.node.config;

import io.troupe.actors.peers.PeerLimits;
import io.troupe.node.process.StartException;
import io.troupe.persistence.wal.WalSettings;

/**
 * Checks that sizes fit together before anything is opened: the log can store, the peer port can
 * transfer, and the heap can hold the largest request that the settings permit.
 */
public final class SizeRules {
  /**
   * Copies of the largest request that exist at the same time on a leader of three: the received
   * bytes and the proposal, the log record, a message to each follower in one piece and in parts,
   * the store's batch and the event; and space for everything else.
   */
  static final int REQUESTS_IN_HEAP = 12;

  /** Overhead of a request in a log record and in a message. */
  private static final int ENVELOPE_BYTES = 64 << 10;

  private static final int MEBIBYTE = 1 << 20;

  private SizeRules() {}

  /** Returns the largest request size that the settings may permit with that heap. */
  static long maxRequestBytes(long heapBytes) {
    int carried = Math.min(WalSettings.MAX_ENTRY_BYTES, PeerLimits.MAX_MESSAGE_BYTES);
    return Math.min(carried - ENVELOPE_BYTES, heapBytes / REQUESTS_IN_HEAP);
  }

  /**
   * Checks the sizes.
   *
   * @param heapBytes heap limit
   * @throws StartException that names key, value and the expected form
   */
  public static void check(NodeSettings settings, long heapBytes) {
    long most = maxRequestBytes(heapBytes);
    if (settings.maxRequestBytes() > most) {
      throw SettingsReader.wrong(
          "max-request-bytes",
          String.valueOf(settings.maxRequestBytes()),
          "at most "
              + most
              + " with a heap of "
              + heapBytes / MEBIBYTE
              + " MiB, a twelfth of it and never more than 256 MiB; give the member more heap"
              + " (TROUPE_HEAP)");
    }
  }
}
