package io.troupe.simulation.world;

import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** Makes things go wrong, now and then, until it is told to stop. Each run prefers other faults. */
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

  /** Faults for a cluster. */
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

  /** Begins. */
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

  /** No more faults; all members run, all links work, nothing hangs. */
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
      case CRASH -> crash(anyone());
      case CRASH_LEADER -> crash(leaderOrAnyone());
      case CRASH_ALL -> {
        if (random.nextInt(3) == 0) {
          world.members().forEach(this::crash);
        }
      }
      case CRASH_INSTALLING -> strand(leaderOrAnyone());
      case PARTITION -> partition();
      case CUT_ONE_WAY -> {
        world.coverage().count("one-way cuts");
        world.network().cut(anyone().id(), anyone().id());
      }
      case ISOLATE_LEADER -> isolate(leaderOrAnyone());
      case HUNT_LEADERS -> {
        world.coverage().count("hunts of leaders");
        hunt(3 + random.nextInt(6));
      }
      case HEAL -> world.network().heal();
      case PAUSE -> pause(anyone());
      case PAUSE_LEADER -> pause(leaderOrAnyone());
      case SLOW_TICKS -> anyone().slowTicks(random.nextBoolean() ? 0 : random.nextInt(400_000));
      case STALL_DISK -> anyone().stallDisk(100_000 + random.nextLong(4_000_000));
      case SLOW_NETWORK -> world.network().slow(random.nextInt(150_000));
      case LOSE_MESSAGES -> world.network().lose(random.nextInt(40) / 100.0);
      case TRANSFER -> {
        world.coverage().count("transfers asked for");
        leaderOrAnyone().transferLeadership(anyone().id());
      }
      case HAND_OVER -> leaderOrAnyone().handOver();
      case MEMBERSHIP -> operator.change();
    }
  }

  private SimMember anyone() {
    List<SimMember> started =
        world.members().stream().filter(m -> m.isStarted() && !m.isRetired()).toList();
    return started.get(random.nextInt(started.size()));
  }

  private SimMember leaderOrAnyone() {
    SimMember leader = world.leader();
    return leader == null ? anyone() : leader;
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
      // Short ones, long ones, and those after which a leader may lead still and yet be late.
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
   * A leader is cut off until its tail contradicts what the others committed, and their logs begin
   * after it: it needs a snapshot. Each member dies in the middle of its next installation.
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
   * Whoever leads is cut off, alone or with a few others, as soon as it leads: logs get tails that
   * never commit, or commit late.
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
