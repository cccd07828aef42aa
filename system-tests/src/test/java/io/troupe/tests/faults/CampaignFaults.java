package io.troupe.tests.faults;

import io.etcd.jetcd.api.StatusResponse;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Draws faults from a seed and injects and heals them, up to two at a time. One thread. */
final class CampaignFaults {
  private record Active(Fault fault, long untilNanos, Runnable undo) {}

  /**
   * A frozen disk thaws by itself after this time: the thread that should thaw it may wait for the
   * disk.
   */
  private static final int LONGEST_HANG_SECONDS = 8;

  private final TestCluster cluster;
  private final Map<Integer, LoopDisk> disks;
  private final Set<Integer> badDisks = new TreeSet<>();
  private final ClusterHistory history;
  private final SplittableRandom random;
  private final List<Active> active = new ArrayList<>();
  private final Map<Fault, Integer> counts = new EnumMap<>(Fault.class);
  private final List<String> log = new ArrayList<>();

  /**
   * Draws from {@code random}.
   *
   * @param disks of all members, by number
   */
  CampaignFaults(
      TestCluster cluster,
      Map<Integer, LoopDisk> disks,
      ClusterHistory history,
      SplittableRandom random) {
    this.cluster = cluster;
    this.disks = disks;
    this.history = history;
    this.random = random;
  }

  /** The number of times that each fault was injected. */
  Map<Fault, Integer> counts() {
    return counts;
  }

  /** The faults, with times. */
  List<String> log() {
    return log;
  }

  /** Injects faults for that time; afterwards no fault remains and all members run. */
  void run(long seconds) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    long next = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    while (System.nanoTime() < end && cluster.endedByThemselves().isEmpty()) {
      undo(System.nanoTime());
      cluster.startWhatDisksEnded();
      if (System.nanoTime() >= next && active.size() < 2 && isTime(next)) {
        begin();
        next = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500L + random.nextInt(5500));
      }
      LockSupport.parkNanos(20_000_000);
    }
    undo(Long.MAX_VALUE);
    cluster.network().healAll();
  }

  /**
   * On a busy machine members start slowly. A cluster that never serves shows nothing, so the next
   * fault waits for a leader, but with a bound.
   */
  private boolean isTime(long sinceNanos) {
    return cluster.leader() != 0 || System.nanoTime() - sinceNanos > TimeUnit.SECONDS.toNanos(20);
  }

  private void undo(long nowNanos) {
    for (Active each : List.copyOf(active)) {
      if (each.untilNanos() <= nowNanos) {
        active.remove(each);
        each.undo().run();
        note("end of " + each.fault());
      }
    }
  }

  private void note(String what) {
    log.add(history.nowUs() + " " + what);
  }

  private void begin() {
    int leader = cluster.leader();
    List<Fault> faults = List.of(Fault.values());
    Fault fault = faults.get(random.nextInt(faults.size()));
    if (leader == 0) {
      leader = any(cluster.members());
    }
    int follower = any(cluster.without(Set.of(leader)));
    long ms = 1000L + random.nextInt(4000);
    Runnable undo =
        switch (fault) {
          case KILL_LEADER -> kill(Set.of(leader));
          case KILL_FOLLOWER -> kill(Set.of(follower));
          case KILL_ALL -> kill(cluster.members());
          case TERMINATE -> terminate(any(cluster.members()));
          case PAUSE_LEADER -> pause(Set.of(leader));
          case PAUSE_FOLLOWER -> pause(Set.of(follower));
          case PAUSE_MAJORITY -> pause(group(leader, cluster.members().size() / 2 + 1));
          case CUT_LEADER -> split(Set.of(leader), ms);
          case CUT_FOLLOWER -> split(Set.of(follower), ms);
          case SPLIT -> split(group(leader, 1 + random.nextInt(cluster.members().size() - 1)), ms);
          case LEADER_DEAF -> cut(cluster.without(Set.of(leader)), Set.of(leader), ms);
          case LEADER_MUTE -> cut(Set.of(leader), cluster.without(Set.of(leader)), ms);
          case FOLLOWER_DEAF -> cut(cluster.without(Set.of(follower)), Set.of(follower), ms);
          case ONE_WAY -> oneWay(ms);
          case SLOW -> slow();
          case LOSS -> loss();
          case HANG_LEADER -> hang(leader);
          case HANG_FOLLOWER -> hang(follower);
          case FULL -> full(any(cluster.members()));
          case MOVE_LEADER -> move(leader, follower);
        };
    counts.merge(fault, 1, Integer::sum);
    note(fault + " leader=" + leader + " follower=" + follower + " ms=" + ms);
    active.add(new Active(fault, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms), undo));
  }

  private int any(Set<Integer> members) {
    List<Integer> list = List.copyOf(members);
    return list.get(random.nextInt(list.size()));
  }

  /** That many members, including this one. */
  private Set<Integer> group(int with, int size) {
    Set<Integer> group = new TreeSet<>(Set.of(with));
    while (group.size() < size) {
      group.add(any(cluster.without(group)));
    }
    return group;
  }

  private Runnable kill(Set<Integer> members) {
    List<Integer> killed = new ArrayList<>();
    for (int member : members) {
      if (cluster.isUp(member)) {
        cluster.kill(member);
        killed.add(member);
      }
    }
    return () -> killed.forEach(member -> cluster.start(member));
  }

  private Runnable terminate(int member) {
    if (!cluster.isUp(member)) {
      return () -> {};
    }
    cluster.terminate(member);
    return () -> cluster.start(member);
  }

  private Runnable pause(Set<Integer> members) {
    List<Integer> paused = new ArrayList<>();
    for (int member : members) {
      if (cluster.isUp(member)) {
        cluster.pause(member);
        paused.add(member);
      }
    }
    return () -> paused.forEach(cluster::resume);
  }

  private Runnable split(Set<Integer> group, long ms) {
    Set<Integer> others = cluster.without(group);
    cluster.network().split(group, others);
    long lag = lag(ms);
    return () -> cluster.network().join(group, others, lag);
  }

  private Runnable cut(Set<Integer> from, Set<Integer> to, long ms) {
    cluster.network().cut(from, to);
    long lag = lag(ms);
    return () -> cluster.network().heal(from, to, lag);
  }

  private Runnable oneWay(long ms) {
    int from = any(cluster.members());
    return cut(Set.of(from), Set.of(any(cluster.without(Set.of(from)))), ms);
  }

  /** TCP retries after at most as long as it was blocked; sometimes immediately. */
  private long lag(long ms) {
    return random.nextBoolean() ? 0 : random.nextLong(ms);
  }

  private Runnable slow() {
    cluster.network().delay(20L + random.nextInt(130));
    return () -> cluster.network().delay(0);
  }

  private Runnable loss() {
    cluster.network().loss(0.02 + random.nextDouble() * 0.2);
    if (random.nextBoolean()) {
      cluster.network().reset(any(cluster.members()));
    }
    return () -> cluster.network().loss(0);
  }

  private Runnable hang(int member) {
    LoopDisk disk = disks.get(member);
    if (disk == null || !badDisks.add(member)) {
      return () -> {};
    }
    disk.freeze(LONGEST_HANG_SECONDS);
    return () -> {
      disk.thaw();
      badDisks.remove(member);
    };
  }

  private Runnable full(int member) {
    LoopDisk disk = disks.get(member);
    if (disk == null || !badDisks.add(member)) {
      return () -> {};
    }
    cluster.diskIsFull(member);
    disk.fill();
    return () -> {
      disk.empty();
      cluster.diskHasSpace(member);
      badDisks.remove(member);
    };
  }

  private Runnable move(int leader, int to) {
    StatusResponse target = cluster.status(to);
    if (target != null && cluster.isUp(leader)) {
      try {
        cluster.calls(leader).moveLeader(target.getHeader().getMemberId());
      } catch (StatusRuntimeException e) {
        note("no transfer: " + e.getStatus());
      }
    }
    return () -> {};
  }
}
