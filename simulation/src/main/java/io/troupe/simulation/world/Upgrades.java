package io.troupe.simulation.world;

import io.troupe.machine.StateView;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import io.troupe.version.VersionRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * An operator who replaces the programs of members, one at a time, and enables and cancels
 * downgrades. Sometimes a wrong program is installed; the operator reads why it does not start, and
 * installs the right one.
 */
public final class Upgrades {
  private static final long OLDEST = 6;
  private static final long NEWEST = 8;
  private static final long FINISH_EVERY_US = 150_000;

  private final SimWorld world;
  private final SplittableRandom random;
  private final boolean enabled;

  /** Minor version that all members get. */
  private long goal;

  private boolean finishing;

  /** Replacements of programs that are not complete. */
  private int replacements;

  /** Creates an operator, and chooses the programs of members that may be added later. */
  public Upgrades(SimWorld world, SplittableRandom random) {
    this.world = world;
    this.random = random;
    SimSettings.Versions settings = world.settings().versions();
    this.enabled = settings.change();
    this.goal = settings.firstMinor();
    if (enabled) {
      world.members().stream()
          .filter(member -> !member.isStarted())
          .forEach(member -> member.install(program(random.nextInt(3) == 0 ? anyMinor() : goal)));
    }
  }

  /** Starts, if the settings of this run say so. */
  public void start() {
    if (enabled) {
      long mean = world.settings().versions().stepUs();
      long delay = finishing ? FINISH_EVERY_US : 1 + random.nextLong(2 * mean);
      world
          .scheduler()
          .after(
              delay,
              () -> {
                if (!isSettled()) {
                  step();
                  start();
                }
              });
    }
  }

  /**
   * From now on the operator completes what was begun: all members get the version of the cluster,
   * the target of the downgrade, or the next version if a member has it.
   */
  public void finish() {
    finishing = true;
  }

  /**
   * True after {@link #finish} if all members run one version, which the cluster has, no program is
   * being replaced, and no downgrade is enabled.
   */
  public boolean isSettled() {
    if (!enabled) {
      return true;
    }
    EtcdVersion cluster = newest().cluster();
    if (!finishing || replacements > 0 || cluster == null || newest().isDowngrading()) {
      return false;
    }
    for (SimMember member : world.members()) {
      MemberRun run = member.run();
      if (world.membership().contains(member.id())) {
        if (run == null || !run.apply.machine().view().versions().equals(newest())) {
          return false;
        }
      }
      if (isManaged(member) && member.program().minor() != cluster.minor()) {
        return false;
      }
    }
    return true;
  }

  /** What the operator sees, for the report of a failure. */
  public String status() {
    List<String> programs = new ArrayList<>();
    world.members().forEach(member -> programs.add(member.id() + ":" + member.program()));
    return newest() + " goal=" + goal + " " + programs;
  }

  // ---- one step

  private void step() {
    if (repair()) {
      return;
    }
    ClusterVersions now = newest();
    EtcdVersion cluster = now.cluster();
    EtcdVersion target = now.downgradeTarget();
    if (finishing) {
      if (target != null) {
        goal = target.minor();
      } else if (cluster != null) {
        boolean higher = managed().stream().anyMatch(m -> m.program().minor() > cluster.minor());
        goal = cluster.minor() + (higher && cluster.minor() < NEWEST ? 1 : 0);
      }
      if (managed().stream().allMatch(SimMember::isUp)) {
        replaceNext(target);
      }
    } else if (random.nextInt(10) == 0) {
      replace(any(managed()), anyMinor(), "wrong programs installed");
    } else if (cluster != null && target != null) {
      goal = target.minor();
      int dice = random.nextInt(20);
      if (dice < 2) {
        propose(new Operation.CancelDowngrade(random.nextInt(3) == 0 ? null : target));
      } else if (dice < 4) {
        // Another operator, whose request the state refuses.
        propose(new Operation.EnableDowngrade(new EtcdVersion(3, cluster.minor() - 1, 0)));
      } else {
        replaceNext(target);
      }
    } else if (cluster != null) {
      upgradeOrEnable(now, cluster);
    }
  }

  private void upgradeOrEnable(ClusterVersions now, EtcdVersion cluster) {
    goal = Math.min(Math.max(goal, cluster.minor()), cluster.minor() + 1);
    List<SimMember> higher =
        managed().stream().filter(m -> m.program().minor() > cluster.minor()).toList();
    int dice = random.nextInt(8);
    if (goal > cluster.minor()) {
      if (dice == 0 && !higher.isEmpty()) {
        replace(any(higher), cluster.minor(), "upgrades of a member reverted");
      } else {
        replaceNext(null);
      }
    } else if (!higher.isEmpty()) {
      // After a downgrade that was canceled: back to the version that some members still run.
      goal = cluster.minor() + (cluster.minor() < NEWEST ? 1 : 0);
    } else if (dice < 4 && goal < NEWEST) {
      goal++;
    } else if (goal > OLDEST) {
      EtcdVersion below = new EtcdVersion(3, goal - 1, 0);
      // As the gateway does; sometimes its state is older than that of the entry.
      if (dice == 7 || VersionRules.refuseDowngrade(now, below) == null) {
        propose(new Operation.EnableDowngrade(below));
      }
    }
  }

  /** In a downgrade only a member whose state has the storage version of the target. */
  private void replaceNext(@Nullable EtcdVersion target) {
    for (SimMember member : managed()) {
      MemberRun run = member.run();
      boolean ready =
          run != null
              && (target == null || target.equals(run.apply.machine().view().versions().storage()));
      if (ready && member.program().minor() != goal) {
        replace(member, goal, goal > member.program().minor() ? "upgrades" : "downgrades");
        return;
      }
    }
  }

  private void replace(SimMember member, long minor, String what) {
    if (!member.isUp()) {
      return;
    }
    world.coverage().count("programs replaced: " + what);
    EtcdVersion next = program(minor);
    world.trace().note(member.id(), "gets program", next);
    if (random.nextBoolean()) {
      member.handOver();
    }
    replacements++;
    world
        .scheduler()
        .after(
            random.nextInt(100_000),
            () -> {
              member.crash(random, false);
              member.install(next);
              world
                  .scheduler()
                  .after(
                      20_000 + random.nextInt(400_000),
                      () -> {
                        replacements--;
                        member.boot();
                      });
            });
  }

  /** Installs the program that the text of a refusal names. Returns false if none is needed. */
  private boolean repair() {
    for (SimMember member : world.members()) {
      ClusterVersions refusing = member.refusedBy();
      if (!member.isUp() && !member.isRetired() && refusing != null) {
        member.install(program(Objects.requireNonNull(refusing.cluster()).minor()));
        member.boot();
        return true;
      }
      if (member.waitsToJoin()) {
        member.boot();
      }
    }
    return reconnect();
  }

  /** Replaces a program whose version is too far from that of the other members. */
  private boolean reconnect() {
    EtcdVersion cluster = newest().cluster();
    for (SimMember member : world.members()) {
      MemberRun run = member.run();
      if (run != null
          && cluster != null
          && Math.abs(member.program().minor() - cluster.minor()) > 1) {
        EtcdVersion own = run.apply.machine().view().versions().cluster();
        long named = own == null ? 0 : own.minor();
        replace(member, Math.max(named, cluster.minor()), "wrong programs replaced");
        return true;
      }
    }
    return false;
  }

  private void propose(Operation operation) {
    List<SimMember> up = managed().stream().filter(SimMember::isUp).toList();
    MemberRun run = up.isEmpty() ? null : any(up).run();
    if (run != null) {
      world.trace().note(run.id, "is asked for", operation);
      run.raft.propose(operation, outcome -> {});
    }
  }

  private EtcdVersion program(long minor) {
    return new EtcdVersion(3, minor, random.nextInt(20));
  }

  private long anyMinor() {
    return OLDEST - 1 + random.nextInt((int) (NEWEST - OLDEST + 3));
  }

  private <X> X any(List<X> choice) {
    return choice.get(random.nextInt(choice.size()));
  }

  /** Members whose process ran and that are not permanently stopped. */
  private List<SimMember> managed() {
    return world.members().stream().filter(Upgrades::isManaged).toList();
  }

  private static boolean isManaged(SimMember member) {
    return member.isStarted() && !member.isRetired();
  }

  /** Versions in the newest state of a running member. */
  private ClusterVersions newest() {
    long index = -1;
    ClusterVersions newest = ClusterVersions.UNDECIDED;
    for (SimMember member : world.members()) {
      MemberRun run = member.run();
      if (run != null) {
        StateView view = run.apply.machine().view();
        if (view.appliedIndex() > index) {
          index = view.appliedIndex();
          newest = view.versions();
        }
      }
    }
    return newest;
  }
}
