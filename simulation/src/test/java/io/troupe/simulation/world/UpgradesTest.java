package io.troupe.simulation.world;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the operator who replaces programs leaves behind. */
class UpgradesTest {
  private static final int SEEDS = 130;
  private static final long STEP_US = 100_000;
  private static final int MOST_STEPS = 600;

  @Test
  void settledClusterKeepsItsPrograms() {
    int checked = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      SimSettings settings = SimSettings.draw(random.split(), 1);
      if (settings.versions().change()) {
        settledClusterKeepsItsPrograms(seed, settings, random);
        checked++;
      }
    }
    assertThat(checked).isGreaterThan(SEEDS / 3);
  }

  private static void settledClusterKeepsItsPrograms(
      long seed, SimSettings settings, SplittableRandom random) {
    SimWorld world = new SimWorld(settings, random.split(), false);
    world.start();
    Upgrades upgrades = new Upgrades(world, random.split());
    upgrades.start();
    pass(world, 1_000_000 + random.nextInt(1_000_000));
    settle(world, upgrades, seed);
    String settled = upgrades.status();
    pass(world, 1_000_000);
    assertThat(upgrades.isSettled())
        .as("seed %d stays settled: %s, then %s", seed, settled, upgrades.status())
        .isTrue();
  }

  private static void settle(SimWorld world, Upgrades upgrades, long seed) {
    upgrades.finish();
    for (int i = 0; i < MOST_STEPS && !upgrades.isSettled(); i++) {
      pass(world, STEP_US);
    }
    assertThat(upgrades.isSettled()).as("seed %d settles: %s", seed, upgrades.status()).isTrue();
  }

  /**
   * The state of a member does not have the version that the others decided, so its program starts,
   * but the others refuse its messages. They have begun a downgrade, which waits for it.
   */
  @ParameterizedTest
  @ValueSource(longs = {6, 10})
  void programThatOtherMembersRefuseIsReplaced(long wrongMinor) {
    long seed = 0;
    SimSettings settings;
    do {
      settings = SimSettings.draw(new SplittableRandom(++seed), 1);
    } while (!settings.versions().change() || settings.voters() != 3);
    SplittableRandom random = new SplittableRandom(seed);
    SimWorld world = new SimWorld(settings, random.split(), false);
    world.members().forEach(member -> member.install(new EtcdVersion(3, 8, 0)));
    world.start();
    Upgrades upgrades = new Upgrades(world, random.split());
    SimMember behind = memberThatHasNoVersionYet(world);
    behind.crash(random, false);
    behind.install(new EtcdVersion(3, wrongMinor, 0));
    behind.boot();
    assertThat(behind.isUp()).isTrue();
    pass(world, 1_000_000);
    SimMember leader = Objects.requireNonNull(world.leader());
    Objects.requireNonNull(leader.run())
        .raft
        .propose(new Operation.EnableDowngrade(new EtcdVersion(3, 7, 0)), outcome -> {});
    pass(world, 1_000_000);
    assertThat(versions(leader).isDowngrading()).isTrue();
    assertThat(versions(behind).cluster()).isNull();
    upgrades.start();
    settle(world, upgrades, seed);
    assertThat(versions(behind).cluster()).isEqualTo(new EtcdVersion(3, 7, 0));
  }

  /** Advances time until one member has the version of the cluster and another one does not. */
  private static SimMember memberThatHasNoVersionYet(SimWorld world) {
    for (int i = 0; i < MOST_STEPS * 1_000; i++) {
      pass(world, 100);
      List<SimMember> running = world.members().stream().filter(SimMember::isUp).toList();
      List<SimMember> behind =
          running.stream().filter(member -> versions(member).cluster() == null).toList();
      if (behind.size() < running.size()) {
        assertThat(behind).isNotEmpty();
        return behind.get(0);
      }
    }
    throw new AssertionError("no version was decided");
  }

  private static ClusterVersions versions(SimMember member) {
    return Objects.requireNonNull(member.run()).apply.machine().view().versions();
  }

  private static void pass(SimWorld world, long us) {
    world.scheduler().runUntil(world.scheduler().nowUs() + us);
  }
}
