package io.troupe.raft;

/**
 * The numbers Raft runs by. Ticks are as long as the shell makes them.
 *
 * @param electionTicks silence after which a follower doubts its leader; the actual patience is
 *     drawn from [electionTicks, 2 * electionTicks); at least 5 * heartbeatTicks
 * @param heartbeatTicks between two heartbeats of a leader, 1 or more
 * @param maxEntriesPerAppend in one message or one apply, 1 or more
 * @param maxBytesPerAppend of entries in one message, exceeded only by a single entry; 1 or more
 * @param maxInflightAppends messages in flight to one follower, 1 or more
 * @param maxInflightBytes of entries in flight to one follower, exceeded only by the last
 *     message; 1 or more
 * @param maxPendingProposals entries not applied yet (and, apart from them, reads not released yet)
 *     before new ones are refused; 1 or more. Twice as many before those of priority are (Q6)
 * @param maxLogBytesInMemory of entries kept in memory; when those not applied yet reach it alone,
 *     proposals are refused
 * @param diskStallTicks time without an answer of the disk after which a leader passes on or gives
 *     up, and nobody campaigns; 0 means never
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
   * For a tick of 100 ms: 1 s of patience, messages of up to 1024 entries or 1 MiB, 64 of them or
   * 16 MiB on the way, 5000 proposals waiting (Q6), 64 MiB of log in memory, 2 s for the disk.
   */
  public static RaftSettings defaults() {
    return new RaftSettings(10, 1, 1024, 1 << 20, 64, 16L << 20, 5000, 64L << 20, 20);
  }

  /** How many entries that are not applied yet make such a proposal be refused. */
  long maxPending(Proposal proposal) {
    return proposal.isPriority() ? 2L * maxPendingProposals : maxPendingProposals;
  }

  private static void check(boolean inRange, String name, long value) {
    if (!inRange) {
      throw new IllegalArgumentException(name + " is out of range: " + value);
    }
  }
}
