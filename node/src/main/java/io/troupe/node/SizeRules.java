package io.troupe.node;

import io.troupe.actors.peers.PeerLimits;
import io.troupe.persistence.wal.WalSettings;

/**
 * Sizes that must fit together, checked before anything is opened: what one setting lets in, the
 * log can write and read again, the peer port can carry, and the heap can hold in flight.
 */
final class SizeRules {
  /**
   * Copies of the largest request that exist at one time on a leader of three: as it came and as a
   * proposal, the log's record, a message to each follower in one piece and in parts, the store's
   * batch and the event; and space for everything else beside them.
   */
  static final int REQUESTS_IN_HEAP = 12;

  /** What surrounds a request in the log's record and in a message. */
  private static final int ENVELOPE_BYTES = 64 << 10;

  private static final int MEBIBYTE = 1 << 20;

  private SizeRules() {}

  /** Largest request that may be allowed with that heap; any larger one is refused by its size. */
  static long maxRequestBytes(long heapBytes) {
    int carried = Math.min(WalSettings.MAX_ENTRY_BYTES, PeerLimits.MAX_MESSAGE_BYTES);
    return Math.min(carried - ENVELOPE_BYTES, heapBytes / REQUESTS_IN_HEAP);
  }

  /**
   * Checks.
   *
   * @param heapBytes most that the heap may have
   * @throws StartException naming key, value and what would be right
   */
  static void check(NodeSettings settings, long heapBytes) {
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
