package io.troupe.raft;

/**
 * Parameters of Raft. The shell defines the length of a tick.
 *
 * @param electionTicks time without a message of the leader after which a follower may start an
 *     election; the actual timeout is drawn from [electionTicks, 2 * electionTicks); at least 5 *
 *     heartbeatTicks
 * @param heartbeatTicks between two heartbeats of a leader, 1 or more
 * @param maxEntriesPerAppend in one message or one apply, 1 or more
 * @param maxBytesPerAppend of entries in one message, exceeded only by a single entry; 1 or more
 * @param maxInflightAppends messages in flight to one follower, 1 or more
 * @param maxInflightBytes of entries in flight to one follower, exceeded only by the last message;
 *     1 or more
 * @param maxPendingProposals unapplied entries (and, separately, unreleased reads) before new ones
 *     are refused; 1 or more. Twice as many before proposals with priority are refused (Q6)
 * @param maxLogBytesInMemory size of the entries kept in memory; if unapplied entries alone reach
 *     it, proposals are refused. Of the entries that every member stores and that are applied, a
 *     64th part of it is kept
 * @param diskStallTicks time without a completion of the disk after which a leader transfers
 *     leadership or steps down, and no member campaigns; 0 means never
 */
public record RaftSettings(
    int electionTicks,
    int heartbeatTicks,
    int maxEntriesPerAppend,
    long maxBytesPerAppend,
    int maxInflightAppends,
    long maxInflightBytes,
    int maxPendingProposals,
    long maxLogBytesInMemory,
    int diskStallTicks) {
  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the setting
   */
  public RaftSettings {
    check(heartbeatTicks >= 1, "heartbeatTicks", heartbeatTicks);
    check(
        electionTicks >= 5L * heartbeatTicks,
        "electionTicks (at least 5 * heartbeatTicks)",
        electionTicks);
    check(electionTicks <= 1_000_000, "electionTicks", electionTicks);
    check(maxEntriesPerAppend >= 1, "maxEntriesPerAppend", maxEntriesPerAppend);
    check(maxBytesPerAppend >= 1, "maxBytesPerAppend", maxBytesPerAppend);
    check(maxInflightAppends >= 1, "maxInflightAppends", maxInflightAppends);
    check(maxInflightBytes >= 1, "maxInflightBytes", maxInflightBytes);
    check(maxPendingProposals >= 1, "maxPendingProposals", maxPendingProposals);
    check(maxLogBytesInMemory >= 1, "maxLogBytesInMemory", maxLogBytesInMemory);
    check(diskStallTicks >= 0, "diskStallTicks", diskStallTicks);
  }

  /**
   * For a tick of 100 ms: election timeout 1 s, messages of up to 1024 entries or 1 MiB, 64
   * messages or 16 MiB in flight, 5000 pending proposals (Q6), 64 MiB of log in memory, disk stall
   * after 2 s.
   */
  public static RaftSettings defaults() {
    return new RaftSettings(10, 1, 1024, 1 << 20, 64, 16L << 20, 5000, 64L << 20, 20);
  }

  /** Number of unapplied entries from which such a proposal is refused. */
  long maxPending(Proposal proposal) {
    return proposal.isPriority() ? 2L * maxPendingProposals : maxPendingProposals;
  }

  private static void check(boolean inRange, String name, long value) {
    if (!inRange) {
      throw new IllegalArgumentException(name + " is out of range: " + value);
    }
  }
}
