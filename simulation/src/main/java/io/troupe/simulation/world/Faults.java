package io.troupe.simulation.world;

import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** Injects random faults until it is stopped. Each run prefers different faults. */
public final class Faults {
  private enum Kind {
    CRASH,
    CRASH_LEADER,
    CRASH_ALL,
    CRASH_INSTALLING,
    PARTITION,
    CUT_ONE_WAY,
    ISOLATE_LEADER,
    HUNT_LEADERS,
    HEAL,
    PAUSE,
    PAUSE_LEADER,
    SLOW_TICKS,
    STALL_DISK,
    SLOW_NETWORK,
    LOSE_MESSAGES,
    TRANSFER,
    HAND_OVER,
    MEMBERSHIP
  }

  private final SimWorld world;
  private final SplittableRandom random;
  private final Operator operator;
  private final List<Kind> preferred = new ArrayList<>();
  private boolean stopped;

  /** Creates a source of faults for a cluster. */
  public Faults(SimWorld world, SplittableRandom random) {
    this.world = world;
    this.random = random;
    this.operator = new Operator(world, random.split());
    for (Kind kind : Kind.values()) {
      int weight = random.nextInt(4);
      for (int i = 0; i < weight; i++) {
        preferred.add(kind);
      }
    }
    preferred.add(Kind.HEAL);
    preferred.add(Kind.HEAL);
  }

  /** Starts. */
  public void start() {
    world
        .scheduler()
        .after(
            random.nextLong(2 * world.settings().faultEveryUs()),
            () -> {
              if (!stopped) {
                one(preferred.get(random.nextInt(preferred.size())));
                start();
              }
            });
  }

  /** Stops the faults. All members run, all links work, and no disk hangs. */
  public void stop() {
    stopped = true;
    world.network().makePerfect();
    for (SimMember member : world.members()) {
      member.relieve();
      if (member.isStarted()) {
        member.boot();
      }
    }
  }

  private void one(Kind kind) {
    world.trace().note(null, "fault", kind.name());
    switch (kind) {
      case CRASH -> crash(anyMember());
      case CRASH_LEADER -> crash(leaderOrAny());
      case CRASH_ALL -> {
        if (random.nextInt(3) == 0) {
          world.members().forEach(this::crash);
        }
      }
      case CRASH_INSTALLING -> strand(leaderOrAny());
      case PARTITION -> partition();
      case CUT_ONE_WAY -> {
        world.coverage().count("one-way cuts");
        world.network().cut(anyMember().id(), anyMember().id());
      }
      case ISOLATE_LEADER -> isolate(leaderOrAny());
      case HUNT_LEADERS -> {
        world.coverage().count("hunts of leaders");
        hunt(3 + random.nextInt(6));
      }
      case HEAL -> world.network().heal();
      case PAUSE -> pause(anyMember());
      case PAUSE_LEADER -> pause(leaderOrAny());
      case SLOW_TICKS -> anyMember().slowTicks(random.nextBoolean() ? 0 : random.nextInt(400_000));
      case STALL_DISK -> anyMember().stallDisk(100_000 + random.nextLong(4_000_000));
      case SLOW_NETWORK -> world.network().slow(random.nextInt(150_000));
      case LOSE_MESSAGES -> world.network().lose(random.nextInt(40) / 100.0);
      case TRANSFER -> {
        world.coverage().count("transfers asked for");
        leaderOrAny().transferLeadership(anyMember().id());
      }
      case HAND_OVER -> leaderOrAny().handOver();
      case MEMBERSHIP -> operator.change();
    }
  }

  private SimMember anyMember() {
    List<SimMember> started =
        world.members().stream().filter(m -> m.isStarted() && !m.isRetired()).toList();
    return started.get(random.nextInt(started.size()));
  }

  private SimMember leaderOrAny() {
    SimMember leader = world.leader();
    return leader == null ? anyMember() : leader;
  }

  private void crash(SimMember member) {
    if (member.isUp()) {
      member.crash(random, random.nextInt(6) == 0);
      long down = random.nextInt(4) == 0 ? random.nextInt(6_000_000) : random.nextInt(800_000);
      world.scheduler().after(down, member::boot);
    }
  }

  private void pause(SimMember member) {
    if (member.isUp() && !member.isPaused()) {
      member.pause(random.nextInt(3) == 0);
      // Short pauses, long ones, and pauses after which a leader may still lead although it is
      // late.
      long takes =
          switch (random.nextInt(3)) {
            case 0 -> random.nextLong(1_500_000);
            case 1 -> random.nextLong(6_000_000);
            default -> 1_000_000 + random.nextLong(1_200_000);
          };
      world.scheduler().after(takes, member::resume);
    }
  }

  private void partition() {
    world.coverage().count("partitions");
    TreeSet<NodeId> side = new TreeSet<>();
    for (SimMember member : world.members()) {
      if (random.nextBoolean()) {
        side.add(member.id());
      }
    }
    cutOff(side);
  }

  private void isolate(SimMember member) {
    world.coverage().count("leaders isolated");
    cutOff(new TreeSet<>(List.of(member.id())));
  }

  /**
   * Cuts a leader off until the end of its log contradicts the committed entries of the other
   * members, and their logs begin after it, so that it needs a snapshot. Each member crashes in the
   * middle of its next installation.
   */
  private void strand(SimMember member) {
    isolate(member);
    world.members().forEach(each -> each.crashWhenInstalling(random.split()));
    world
        .scheduler()
        .after(
            2_500_000 + random.nextLong(2_000_000),
            () -> {
              if (!stopped) {
                world.network().heal();
              }
            });
  }

  /**
   * Cuts each leader off, alone or with a few other members, soon after its election. This creates
   * log tails that never commit, or commit late.
   */
  private void hunt(int times) {
    if (stopped) {
      return;
    }
    world.network().heal();
    SimMember leader = world.leader();
    if (times == 0) {
      return;
    }
    if (leader != null) {
      Set<NodeId> side = new TreeSet<>(List.of(leader.id()));
      for (SimMember member : world.members()) {
        if (random.nextInt(4) == 0) {
          side.add(member.id());
        }
      }
      cutOff(side);
    }
    world.scheduler().after(200_000 + random.nextLong(2_200_000), () -> hunt(times - 1));
  }

  private void cutOff(Set<NodeId> side) {
    for (SimMember one : world.members()) {
      for (SimMember other : world.members()) {
        if (side.contains(one.id()) != side.contains(other.id())) {
          world.network().cut(one.id(), other.id());
        }
      }
    }
  }
}
