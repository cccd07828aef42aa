package io.troupe.simulation.world;

import io.troupe.mvcc.EntryBounds;
import io.troupe.raft.RaftSettings;
import io.troupe.snapshot.LogRetention;
import io.troupe.snapshot.SnapshotCore;
import java.util.SplittableRandom;

/**
 * Settings of a run. Drawn from its seed, so that runs differ in kind and not only in random
 * choices.
 *
 * @param voters 1, 3, 5 or 7
 * @param spares members that may be added later
 * @param raft ticks of 100 ms, an election after 10, as in production
 * @param faultsUs duration of the phase with faults
 * @param faultEveryUs mean time between two faults
 * @param loss part of the messages between members that is lost
 * @param clients clients that read and write
 * @param leaseOwners clients that keep leases
 * @param watchers clients that watch
 * @param thinkUs longest pause of a client between two calls
 * @param snapshots when snapshots are taken, and how much of the log is kept
 * @param segmentEntries entries in a segment of the log
 * @param fullDisks whether disks are nearly full at times
 * @param slowActors whether messages to actors are sometimes delayed
 * @param cacheBytes memory of a member for records of the store
 * @param memory limits of a member for clients and events
 * @param versions how the programs of members are replaced
 */
public record SimSettings(
    int voters,
    int spares,
    RaftSettings raft,
    long faultsUs,
    long faultEveryUs,
    double loss,
    int clients,
    int leaseOwners,
    int watchers,
    long thinkUs,
    SnapshotCore.Settings snapshots,
    int segmentEntries,
    boolean fullDisks,
    boolean slowActors,
    int cacheBytes,
    MemoryLimits memory,
    Versions versions) {
  /**
   * Replacements of programs.
   *
   * @param change false: all members serve one version, and none is decided
   * @param firstMinor minor version of the first programs
   * @param stepUs mean time between two steps of the operator
   * @param downgradeCheckUs time between two checks whether a downgrade is complete
   */
  public record Versions(boolean change, long firstMinor, long stepUs, long downgradeCheckUs) {
    /** No replacements. */
    public static final Versions NONE = new Versions(false, 7, 0, 0);

    /** In a third of the seeds there are none. */
    static Versions draw(SplittableRandom random) {
      return random.nextInt(3) == 0
          ? NONE
          : new Versions(
              true,
              6 + random.nextInt(2),
              50_000 + random.nextInt(400_000),
              300_000 + random.nextInt(2_000_000));
    }
  }

  /**
   * Limits of memory, small because requests here are.
   *
   * @param backlogBytes events between the apply actor and the watch streams
   * @param eventBytes events of one revision that are listed; those of a larger one are read from
   *     history
   * @param clientBytes all that clients occupy
   * @param freeBytes what each client may occupy in any case
   * @param countedBytes steps in which responses count
   */
  public record MemoryLimits(
      long backlogBytes, long eventBytes, long clientBytes, long freeBytes, long countedBytes) {
    /** Nothing is refused. */
    public static final MemoryLimits NONE =
        new MemoryLimits(
            Long.MAX_VALUE, EntryBounds.DEFAULT.eventBytes(), Long.MAX_VALUE, 0, 64 << 10);

    /** True if clients may be refused. */
    boolean isClientMemoryLimited() {
      return clientBytes < Long.MAX_VALUE;
    }

    /** Each limit is off in one third of the seeds. */
    static MemoryLimits draw(SplittableRandom random) {
      boolean backlog = random.nextInt(3) > 0;
      boolean events = random.nextInt(3) > 0;
      boolean clients = random.nextInt(3) > 0;
      return new MemoryLimits(
          backlog ? 300 + random.nextInt(2_000) : NONE.backlogBytes(),
          events ? 500 + random.nextInt(2_000) : NONE.eventBytes(),
          // More than the watchers of all clients need at one member.
          clients ? 64_000 + random.nextInt(300_000) : NONE.clientBytes(),
          random.nextInt(3) == 0 ? 40_000 : random.nextInt(2_000),
          clients ? 1 + random.nextInt(500) : NONE.countedBytes());
    }
  }

  /**
   * Draws settings for one seed.
   *
   * @param faultSeconds virtual seconds with faults
   */
  public static SimSettings draw(SplittableRandom random, int faultSeconds) {
    int dice = random.nextInt(20);
    int voters = dice == 0 ? 1 : dice < 12 ? 3 : dice < 18 ? 5 : 7;
    boolean small = random.nextInt(3) == 0;
    RaftSettings defaults = RaftSettings.defaults();
    RaftSettings raft =
        small
            ? new RaftSettings(
                10,
                1,
                1 + random.nextInt(6),
                100,
                1 + random.nextInt(4),
                100 + random.nextInt(400),
                40 + random.nextInt(200),
                300 + random.nextInt(2_000),
                random.nextBoolean() ? 20 : 0)
            : defaults;
    return new SimSettings(
        voters,
        random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(3),
        raft,
        faultSeconds * 1_000_000L,
        100_000 + random.nextInt(900_000),
        random.nextInt(3) == 0 ? 0 : random.nextInt(80) / 1000.0,
        3 + random.nextInt(5),
        2,
        3,
        5_000 + random.nextInt(60_000),
        drawSnapshots(random),
        1 + random.nextInt(60),
        random.nextInt(4) == 0,
        random.nextInt(4) == 0,
        1 << 20,
        MemoryLimits.draw(random),
        Versions.draw(random));
  }

  /** Entries of the simulation have 8 bytes. */
  private static SnapshotCore.Settings drawSnapshots(SplittableRandom random) {
    int entries = 20 + random.nextInt(300);
    return new SnapshotCore.Settings(
        entries,
        random.nextInt(4) == 0 ? 500 + random.nextInt(2_000) : Long.MAX_VALUE,
        10 + random.nextInt(60),
        random.nextBoolean(),
        new LogRetention.Limits(
            random.nextBoolean() ? 0 : random.nextInt(200),
            random.nextInt(3) == 0 ? random.nextInt(1_000) : Long.MAX_VALUE,
            random.nextInt(3) == 0 ? random.nextInt(2_000) : Long.MAX_VALUE));
  }
}
