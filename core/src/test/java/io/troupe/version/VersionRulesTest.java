package io.troupe.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VersionRulesTest {
  private static final EtcdVersion V35 = new EtcdVersion(3, 5, 0);
  private static final EtcdVersion V36 = new EtcdVersion(3, 6, 0);
  private static final EtcdVersion V37 = new EtcdVersion(3, 7, 0);
  private static final EtcdVersion V38 = new EtcdVersion(3, 8, 0);
  private static final EtcdVersion V40 = new EtcdVersion(4, 0, 0);

  private static ClusterVersions decided(EtcdVersion cluster) {
    return new ClusterVersions(cluster, cluster, null);
  }

  private static ClusterVersions downgrading(EtcdVersion cluster, EtcdVersion target) {
    return new ClusterVersions(cluster, cluster, target);
  }

  /** Servers by their versions; "-" does not reply. */
  private static List<Optional<EtcdVersion>> servers(String... versions) {
    List<Optional<EtcdVersion>> servers = new ArrayList<>();
    for (String version : versions) {
      servers.add(version.equals("-") ? Optional.empty() : Optional.of(EtcdVersion.parse(version)));
    }
    return servers;
  }

  private static @Nullable EtcdVersion decide(ClusterVersions now, String... servers) {
    Operation.SetClusterVersion change = VersionRules.decide(now, servers(servers));
    if (change == null) {
      return null;
    }
    assertThat(change.from()).isEqualTo(now.cluster());
    return change.to();
  }

  private static ClusterVersions after(ClusterVersions now, Operation.Versions operation) {
    VersionRules.Outcome outcome = VersionRules.after(now, operation);
    assertThat(outcome.refusal()).isNull();
    return outcome.versions();
  }

  private static Refusal refused(ClusterVersions now, Operation.Versions operation) {
    VersionRules.Outcome outcome = VersionRules.after(now, operation);
    assertThat(outcome.versions()).isEqualTo(now);
    return Objects.requireNonNull(outcome.refusal());
  }

  @Test
  void firstClusterVersionIsLowestOfAllMembers_V1() {
    assertThat(decide(ClusterVersions.UNDECIDED, "3.7.1")).isEqualTo(V37);
    assertThat(decide(ClusterVersions.UNDECIDED, "3.7.1", "3.6.16", "3.8.0")).isEqualTo(V36);
  }

  @Test
  void clusterVersionStaysUndecidedUntilAllMembersReply() {
    assertThat(decide(ClusterVersions.UNDECIDED, "3.7.1", "-", "3.7.1")).isNull();
    assertThat(decide(ClusterVersions.UNDECIDED)).isNull();
  }

  @Test
  void clusterVersionRisesWhenLastMemberIsUpgraded_V4() {
    assertThat(decide(decided(V36), "3.7.1", "3.7.1", "3.6.16")).isNull();
    assertThat(decide(decided(V36), "3.7.1", "3.7.1", "-")).isNull();
    assertThat(decide(decided(V36), "3.7.1", "3.7.1", "3.7.0")).isEqualTo(V37);
    assertThat(decide(decided(V35), "3.7.1", "3.8.2")).isEqualTo(V37);
  }

  @Test
  void clusterVersionNeverFallsWithoutDowngrade_V1() {
    assertThat(decide(decided(V37), "3.6.16", "3.7.1")).isNull();
    assertThat(decide(decided(V37), "3.6.16", "3.6.16")).isNull();
  }

  @Test
  void clusterVersionStaysWithinMajorVersion_V1() {
    assertThat(decide(decided(V37), "4.0.0", "4.0.0")).isNull();
  }

  @Test
  void clusterVersionFallsToTargetOfDowngrade_V5() {
    assertThat(decide(downgrading(V37, V36), "3.7.1", "3.7.1")).isEqualTo(V36);
    assertThat(decide(downgrading(V37, V36), "3.7.1", "-")).isNull();
    assertThat(decide(downgrading(V37, V36), "3.7.1", "3.5.0")).isNull();
  }

  @Test
  void clusterVersionDoesNotRiseDuringDowngrade_V5() {
    assertThat(decide(downgrading(V36, V36), "3.7.1", "3.7.1")).isNull();
  }

  @Test
  void downgradeEndsWhenAllMembersRunTarget_MT12() {
    ClusterVersions now = downgrading(V36, V36);
    assertThat(VersionRules.finish(now, servers("3.6.16", "3.6.0")))
        .isEqualTo(new Operation.CancelDowngrade(V36));
    assertThat(VersionRules.finish(now, servers("3.6.16", "3.7.1"))).isNull();
    assertThat(VersionRules.finish(now, servers("3.6.16", "-"))).isNull();
    assertThat(VersionRules.finish(now, servers())).isNull();
    assertThat(VersionRules.finish(downgrading(V37, V36), servers("3.6.16"))).isNull();
    assertThat(VersionRules.finish(decided(V36), servers("3.6.16"))).isNull();
  }

  @Test
  void setClusterVersionAlsoSetsStorageVersion_V3() {
    assertThat(after(ClusterVersions.UNDECIDED, new Operation.SetClusterVersion(null, V36)))
        .isEqualTo(decided(V36));
    assertThat(after(decided(V36), new Operation.SetClusterVersion(V36, V37)))
        .isEqualTo(decided(V37));
    assertThat(after(downgrading(V37, V36), new Operation.SetClusterVersion(V37, V36)))
        .isEqualTo(downgrading(V36, V36));
  }

  @Test
  void outdatedDecisionHasNoEffect() {
    for (ClusterVersions now : List.of(decided(V37), downgrading(V37, V36), decided(V36))) {
      assertThat(after(now, new Operation.SetClusterVersion(null, V38))).isEqualTo(now);
      assertThat(after(now, new Operation.SetClusterVersion(V35, V38))).isEqualTo(now);
    }
    // Canceled before the entry that lowers the version, enabled before the one that raises it.
    assertThat(after(decided(V37), new Operation.SetClusterVersion(V37, V36)))
        .isEqualTo(decided(V37));
    assertThat(after(downgrading(V37, V36), new Operation.SetClusterVersion(V37, V38)))
        .isEqualTo(downgrading(V37, V36));
    assertThat(after(ClusterVersions.UNDECIDED, new Operation.SetClusterVersion(V36, V37)))
        .isEqualTo(ClusterVersions.UNDECIDED);
    assertThat(after(decided(V37), new Operation.SetClusterVersion(V37, V40)))
        .isEqualTo(decided(V37));
  }

  @Test
  void enableIsRefusedInOrder_MT11() {
    assertThat(refused(ClusterVersions.UNDECIDED, new Operation.EnableDowngrade(V36)))
        .isEqualTo(Refusal.CLUSTER_VERSION_UNKNOWN);
    for (EtcdVersion target : List.of(V35, V37, V38, V40, new EtcdVersion(2, 6, 0))) {
      assertThat(refused(decided(V37), new Operation.EnableDowngrade(target)))
          .isEqualTo(Refusal.INVALID_DOWNGRADE_TARGET);
    }
    assertThat(refused(downgrading(V37, V36), new Operation.EnableDowngrade(V36)))
        .isEqualTo(Refusal.DOWNGRADE_IN_PROGRESS);
    // The target is checked first.
    assertThat(refused(downgrading(V36, V36), new Operation.EnableDowngrade(V36)))
        .isEqualTo(Refusal.INVALID_DOWNGRADE_TARGET);
    assertThat(after(decided(V37), new Operation.EnableDowngrade(V36)))
        .isEqualTo(downgrading(V37, V36));
  }

  @Test
  void cancelEndsOnlyItsDowngrade_MT11() {
    assertThat(after(downgrading(V37, V36), new Operation.CancelDowngrade(null)))
        .isEqualTo(decided(V37));
    assertThat(after(downgrading(V36, V36), new Operation.CancelDowngrade(V36)))
        .isEqualTo(decided(V36));
    assertThat(refused(downgrading(V36, V36), new Operation.CancelDowngrade(V35)))
        .isEqualTo(Refusal.NO_DOWNGRADE);
    assertThat(refused(decided(V37), new Operation.CancelDowngrade(null)))
        .isEqualTo(Refusal.NO_DOWNGRADE);
  }

  @ParameterizedTest
  @CsvSource({
    "3.6, 3.6.0",
    "3.6.0, 3.6.0",
    "3.6.16, 3.6.0",
    "03.06.1, 3.6.0",
    "3.6.0-rc.1, 3.6.0",
    "3.6.0+build, 3.6.0",
    "3.6.0-rc.1+build, 3.6.0",
    "12.345, 12.345.0"
  })
  void targetHasMajorAndMinorVersion_MT11(String text, String target) {
    assertThat(VersionRules.downgradeTarget(text)).isEqualTo(EtcdVersion.parse(target));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "3",
        "3.",
        ".6",
        "v3.6",
        "3.6.",
        "3.6.x",
        "3.6.0.0",
        "3.6-rc",
        " 3.6",
        "-3.6.0",
        "3.6.0-r\u00e4",
        "3.99999999999999999999",
        "\u0663.6.0"
      })
  void otherTextsAreNoTarget_MT11(String text) {
    assertThat(VersionRules.downgradeTarget(text)).isNull();
  }

  @Test
  void memberOlderThanItsClusterIsRefused_V2() {
    EtcdVersion old = new EtcdVersion(3, 6, 16);
    assertThat(VersionRules.refuseState(old, ClusterVersions.UNDECIDED)).isNull();
    assertThat(VersionRules.refuseState(old, decided(V36))).isNull();
    assertThat(VersionRules.refuseState(old, decided(V35))).isNull();
    assertThat(VersionRules.refuseState(old, downgrading(V36, V36))).isNull();
    for (ClusterVersions newer : List.of(decided(V37), downgrading(V37, V36), decided(V40))) {
      assertThat(VersionRules.refuseState(old, newer))
          .startsWith("invalid downgrade; server version is lower than determined cluster version")
          .contains("serves 3.6.16", "etcdctl downgrade enable 3.6");
    }
  }

  @Test
  void memberOlderThanItsDataIsRefused_V2() {
    assertThat(VersionRules.refuseState(V36, new ClusterVersions(V36, V37, null)))
        .contains("storage version 3.7", "serves 3.6.0", "start this member");
  }

  @Test
  void joiningProgramServesClusterVersionOrNext_V2() {
    EtcdVersion server = new EtcdVersion(3, 7, 1);
    assertThat(VersionRules.refuseJoin(server, ClusterVersions.UNDECIDED)).isNull();
    assertThat(VersionRules.refuseJoin(server, decided(V36))).isNull();
    assertThat(VersionRules.refuseJoin(server, decided(V37))).isNull();
    for (EtcdVersion cluster : List.of(V35, V38, V40, new EtcdVersion(2, 7, 0))) {
      assertThat(VersionRules.refuseJoin(server, decided(cluster)))
          .startsWith("incompatible with current running cluster")
          .contains("serves 3.7.1", "cluster has version " + cluster.shortText());
    }
  }

  @Test
  void onlyClusterVersionJoinsDuringDowngrade_V5() {
    EtcdVersion old = new EtcdVersion(3, 6, 16);
    assertThat(VersionRules.refuseJoin(old, downgrading(V36, V36))).isNull();
    assertThat(VersionRules.refuseJoin(V37, downgrading(V36, V36)))
        .contains("downgraded to 3.6", "join with a program that serves 3.6");
  }

  /** It falls when all members reply, the new one too: so a new one must be able to join. */
  @Test
  void clusterVersionJoinsBeforeItFalls_V5() {
    EtcdVersion old = new EtcdVersion(3, 6, 16);
    assertThat(VersionRules.refuseJoin(V37, downgrading(V37, V36))).isNull();
    for (EtcdVersion other : List.of(old, V38)) {
      assertThat(VersionRules.refuseJoin(other, downgrading(V37, V36)))
          .contains("cluster has version 3.7", "join with a program that serves 3.7");
    }
  }

  @Test
  void runningMembersDifferByOneMinorVersionAtMost() {
    assertThat(VersionRules.refusePeer(V37, null)).isNull();
    for (EtcdVersion near : List.of(V36, V37, V38, new EtcdVersion(3, 6, 99))) {
      assertThat(VersionRules.refusePeer(V37, near)).isNull();
      assertThat(VersionRules.refusePeer(near, V37)).isNull();
    }
    for (EtcdVersion far : List.of(V35, V40, new EtcdVersion(3, 9, 0))) {
      assertThat(VersionRules.refusePeer(V37, far)).contains("this member serves 3.7.0");
      assertThat(VersionRules.refusePeer(far, V37)).contains("the other one 3.7.0");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "3.7", "3.7.1.0", "3.7.x", "3.-7.1", "3.7.+1", "3..1"})
  void versionHasThreeNumbers(String text) {
    assertThatThrownBy(() -> EtcdVersion.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("3.7.1");
  }

  @Test
  void versionsAreOrderedByNumbers() {
    assertThat(EtcdVersion.parse("3.10.0")).isGreaterThan(EtcdVersion.parse("3.9.9"));
    assertThat(EtcdVersion.parse("3.7.10")).isGreaterThan(EtcdVersion.parse("3.7.9"));
    assertThat(EtcdVersion.parse("3.7.1").withoutPatch()).isEqualTo(V37).hasToString("3.7.0");
    assertThat(EtcdVersion.parse("3.7.1").shortText()).isEqualTo("3.7");
  }

  /**
   * Leaders decide on old states, clients enable and cancel, and operators replace programs as the
   * rules permit: no member that runs is ever older than the cluster, unless it was replaced
   * between a decision and its entry; and the storage version is always the cluster version.
   */
  @Test
  void randomOrderOfDecisionsKeepsMembersWithinTheirCluster() {
    for (int seed = 0; seed < 300; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      ClusterVersions now = ClusterVersions.UNDECIDED;
      List<Optional<EtcdVersion>> running = new ArrayList<>(servers("3.6.1", "3.6.2", "3.7.1"));
      List<Operation.Versions> log = new ArrayList<>();
      for (int step = 0; step < 200; step++) {
        int which = random.nextInt(6);
        if (which == 0) {
          // Decisions are applied before a program is replaced, so that the replacement is checked.
          now = applied(now, log);
          int member = random.nextInt(running.size());
          EtcdVersion next = random.nextBoolean() ? EtcdVersion.parse("3.6.1") : V37;
          if (VersionRules.refuseState(next, now) == null) {
            running.set(member, Optional.of(next));
          }
        } else if (which == 1) {
          log.add(new Operation.EnableDowngrade(random.nextBoolean() ? V36 : V35));
        } else if (which == 2) {
          log.add(new Operation.CancelDowngrade(random.nextBoolean() ? V36 : null));
        } else if (which == 3) {
          Operation.CancelDowngrade end = VersionRules.finish(now, running);
          if (end != null) {
            log.add(end);
          }
        } else if (which == 4) {
          Operation.SetClusterVersion change = VersionRules.decide(now, running);
          if (change != null) {
            log.add(change);
          }
        } else {
          now = applied(now, log);
        }
        assertThat(now.storage()).as("seed=%d", seed).isEqualTo(now.cluster());
        for (Optional<EtcdVersion> member : running) {
          assertThat(VersionRules.refuseState(member.orElseThrow(), now))
              .as("seed=%d step=%d %s", seed, step, now)
              .isNull();
        }
      }
    }
  }

  private static ClusterVersions applied(ClusterVersions now, List<Operation.Versions> log) {
    ClusterVersions state = now;
    for (Operation.Versions operation : log) {
      state = VersionRules.after(state, operation).versions();
    }
    log.clear();
    return state;
  }
}
