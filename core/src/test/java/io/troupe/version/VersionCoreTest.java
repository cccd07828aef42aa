package io.troupe.version;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Rounds of a member that serves 3.7.1, in a cluster of three. */
class VersionCoreTest {
  private static final EtcdVersion V36 = new EtcdVersion(3, 6, 0);
  private static final EtcdVersion V37 = new EtcdVersion(3, 7, 0);
  private static final EtcdVersion V38 = new EtcdVersion(3, 8, 0);
  private static final ClusterVersions AT_36 = new ClusterVersions(V36, V36, null);
  private static final ClusterVersions AT_37 = new ClusterVersions(V37, V37, null);
  private static final ClusterVersions LOWERED = new ClusterVersions(V36, V36, V36);
  private static final ClusterVersions TO_LOWER = new ClusterVersions(V37, V37, V36);
  private static final Set<NodeId> THREE = members(1, 2, 3);
  private static final long SECOND = 1_000_000_000L;
  private static final long CHECK = 10 * SECOND;
  private static final long TERM = 5;

  private final List<String> effects = new ArrayList<>();
  private final VersionEffects recorder =
      new VersionEffects() {
        @Override
        public void confirmLeadership(long term) {
          effects.add("confirm " + term);
        }

        @Override
        public void queryMembers() {
          effects.add("query");
        }

        @Override
        public void propose(long term, List<Operation.Versions> operations) {
          effects.add("propose " + term + " " + operations);
        }

        @Override
        public void downgradeWaits(
            ClusterVersions now, SortedMap<NodeId, Optional<EtcdVersion>> servers) {
          effects.add("waits " + servers.size());
        }

        @Override
        public void tooOld(String reason) {
          effects.add("too old");
        }
      };
  private VersionCore core = core(CHECK);
  private long now = 100 * SECOND;

  private VersionCore core(long downgradeCheck) {
    return new VersionCore(new EtcdVersion(3, 7, 1), downgradeCheck, 100 * SECOND, recorder);
  }

  private static Set<NodeId> members(int... numbers) {
    Set<NodeId> members = new TreeSet<>();
    for (int number : numbers) {
      members.add(new NodeId(number));
    }
    return members;
  }

  /** Replies of members 1, 2, ...; "-" does not reply. */
  private static SortedMap<NodeId, Optional<EtcdVersion>> replies(String... servers) {
    SortedMap<NodeId, Optional<EtcdVersion>> replies = new TreeMap<>();
    for (String server : servers) {
      replies.put(
          new NodeId(replies.size() + 1),
          server.equals("-") ? Optional.empty() : Optional.of(EtcdVersion.parse(server)));
    }
    return replies;
  }

  private void expect(String... expected) {
    assertThat(effects).containsExactly(expected);
    effects.clear();
  }

  private static String proposes(Operation.Versions... operations) {
    return "propose " + TERM + " " + List.of(operations);
  }

  /** A check that begins a round, until the queries. */
  private void begins(ClusterVersions state) {
    core.check(state, TERM, now);
    core.leadershipConfirmed(true);
    expect("confirm " + TERM, "query");
  }

  private void round(ClusterVersions state, String... servers) {
    begins(state);
    core.replied(state, THREE, replies(servers), now);
  }

  private void rests(ClusterVersions state) {
    core.check(state, TERM, now);
    expect();
  }

  @Test
  void roundConfirmsQueriesAndProposes_V1() {
    core.check(ClusterVersions.UNDECIDED, TERM, now);
    expect("confirm 5");
    core.leadershipConfirmed(true);
    expect("query");
    core.replied(ClusterVersions.UNDECIDED, THREE, replies("3.7.1", "3.6.16", "3.7.0"), now);
    expect(proposes(new Operation.SetClusterVersion(null, V36)));
  }

  @Test
  void onlyLeaderBeginsRound_V1() {
    core.check(ClusterVersions.UNDECIDED, 0, now);
    expect();
  }

  @Test
  void unconfirmedLeaderSendsNoQuery_V1() {
    core.check(ClusterVersions.UNDECIDED, TERM, now);
    core.leadershipConfirmed(false);
    expect("confirm 5");
    core.check(ClusterVersions.UNDECIDED, TERM + 2, now);
    expect("confirm 7");
  }

  @Test
  void oneRoundRunsAtATime() {
    begins(AT_36);
    rests(AT_36);
    core.replied(AT_36, THREE, replies("3.7.1", "3.7.1", "3.7.1"), now);
    expect(proposes(new Operation.SetClusterVersion(V36, V37)));
    rests(AT_37);
    core.proposalsEnded();
    begins(AT_37);
  }

  /** It may serve any version. */
  @Test
  void memberThatWasAddedDuringQueriesBlocksDecision_V1() {
    begins(AT_36);
    core.replied(AT_36, members(1, 2, 3, 4), replies("3.7.1", "3.7.1", "3.7.1"), now);
    expect(proposes());
  }

  @Test
  void memberThatWasRemovedDuringQueriesDoesNotCount_V1() {
    begins(AT_36);
    core.replied(AT_36, members(1, 2), replies("3.7.1", "3.7.1", "-"), now);
    expect(proposes(new Operation.SetClusterVersion(V36, V37)));
  }

  @Test
  void decisionIsForStateAfterQueries_V5() {
    begins(AT_37);
    core.replied(TO_LOWER, THREE, replies("3.7.1", "3.7.1", "3.7.1"), now);
    expect(proposes(new Operation.SetClusterVersion(V37, V36)));
  }

  @Test
  void nextRoundIsDueAfterIntervalOrChange_V1() {
    round(AT_37, "3.7.1", "3.7.1", "3.7.1");
    expect(proposes());
    core.proposalsEnded();
    rests(AT_37);
    now += VersionCore.ROUND_NANOS - 1;
    rests(AT_37);
    now++;
    round(AT_37, "3.7.1", "3.7.1", "3.7.1");
    expect(proposes());
    core.proposalsEnded();
    begins(TO_LOWER);
  }

  @Test
  void undecidedVersionIsDueAtOnce_V1() {
    round(ClusterVersions.UNDECIDED, "3.7.1", "-", "3.7.1");
    expect(proposes());
    core.proposalsEnded();
    begins(ClusterVersions.UNDECIDED);
  }

  @Test
  void failedRoundIsRepeated() {
    begins(AT_36);
    core.roundFailed();
    core.replied(AT_36, THREE, replies("3.7.1", "3.7.1", "3.7.1"), now);
    expect();
    begins(AT_36);
  }

  @Test
  void downgradeEndsAtCheckTimeWhenAllMembersServeTarget_MT12() {
    core = new VersionCore(new EtcdVersion(3, 6, 16), CHECK, now, recorder);
    round(LOWERED, "3.6.16", "3.6.0", "3.6.16");
    expect(proposes());
    core.proposalsEnded();
    now += CHECK;
    round(LOWERED, "3.6.16", "3.7.1", "3.6.16");
    expect("waits 3", proposes());
    core.proposalsEnded();
    now += CHECK;
    round(LOWERED, "3.6.16", "3.6.0", "3.6.16");
    expect(proposes(new Operation.CancelDowngrade(V36)));
  }

  @Test
  void downgradeWithoutCheckTimeDoesNotEnd_MT12() {
    core = core(0);
    now += 1000 * CHECK;
    round(new ClusterVersions(V37, V37, V37), "3.7.1", "3.7.1", "3.7.1");
    expect(proposes());
  }

  @Test
  void memberOlderThanClusterStopsOnce_V2() {
    ClusterVersions newer = new ClusterVersions(V38, V38, null);
    core.check(newer, 0, now);
    core.check(newer, TERM, now);
    expect("too old");
  }
}
