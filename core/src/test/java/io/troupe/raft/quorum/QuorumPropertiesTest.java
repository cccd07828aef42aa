package io.troupe.raft.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The rules compared with their definitions, for every subset of voters. */
class QuorumPropertiesTest {
  @Property(tries = 2000, seed = "20261121")
  void majorityCommitsIndexStoredByMajority_dissertation3_5(
      @ForAll @IntRange(min = 1, max = 7) int n, @ForAll long seed) {
    World world = new World(seed, n);
    long expected = bruteForceCommit(world, Set.of(world.members));
    assertThat(new MajorityQuorum(world.members).committedIndex(world::matched))
        .isEqualTo(expected);
  }

  @Property(tries = 2000, seed = "20261121")
  void jointQuorumCommitsIndexStoredByBothMajorities_dissertation4_3(
      @ForAll @IntRange(min = 2, max = 7) int n, @ForAll long seed) {
    World world = new World(seed, n);
    Set<NodeId> in = world.subset();
    Set<NodeId> out = world.subset();
    long expected = bruteForceCommit(world, Set.of(in), Set.of(out));
    assertThat(joint(in, out).committedIndex(world::matched)).isEqualTo(expected);
  }

  @Property(tries = 2000, seed = "20261121")
  void voteIsPendingWhileMissingVotesCanDecideIt(
      @ForAll @IntRange(min = 2, max = 6) int n, @ForAll long seed) {
    World world = new World(seed, n);
    Set<NodeId> in = world.subset();
    Set<NodeId> out = world.subset();
    assertThat(tally(world, new MajorityQuorum(in))).isEqualTo(bruteForceVote(world, List.of(in)));
    assertThat(tally(world, joint(in, out))).isEqualTo(bruteForceVote(world, List.of(in, out)));
  }

  @Property(tries = 500, seed = "20261121")
  void anyTwoWinningSetsShareAVoter(@ForAll @IntRange(min = 1, max = 7) int n, @ForAll long seed) {
    World world = new World(seed, n);
    MajorityQuorum quorum = new MajorityQuorum(world.members);
    Set<NodeId> one = world.subset();
    Set<NodeId> other = new TreeSet<>(world.members);
    other.removeAll(one);
    assertThat(
            List.of(
                quorum.tally(one::contains, m -> false), quorum.tally(other::contains, m -> false)))
        .isNotEqualTo(List.of(VoteResult.WON, VoteResult.WON));
  }

  @Property(tries = 1, seed = "20261121")
  void emptyVoterSetIsAlwaysSatisfied() {
    MajorityQuorum none = new MajorityQuorum(Set.of());
    assertThat(none.committedIndex(m -> 3)).isEqualTo(Long.MAX_VALUE);
    assertThat(none.tally(m -> false, m -> true)).isEqualTo(VoteResult.WON);
    MajorityQuorum one = new MajorityQuorum(Set.of(new NodeId(1)));
    assertThat(new JointQuorum(one, none).committedIndex(m -> 3)).isEqualTo(3);
  }

  private static JointQuorum joint(Set<NodeId> in, Set<NodeId> out) {
    return new JointQuorum(new MajorityQuorum(in), new MajorityQuorum(out));
  }

  private static VoteResult tally(World world, Quorum quorum) {
    return quorum.tally(world.granted::contains, world.rejected::contains);
  }

  @SafeVarargs
  private static long bruteForceCommit(World world, Set<? extends Set<NodeId>>... configurations) {
    long best = 0;
    for (long index = 1; index <= 12; index++) {
      long candidate = index;
      boolean everywhere = true;
      for (Set<? extends Set<NodeId>> configuration : configurations) {
        Set<NodeId> voters = configuration.iterator().next();
        long storing = voters.stream().filter(m -> world.matched(m) >= candidate).count();
        everywhere &= storing * 2 > voters.size();
      }
      if (everywhere) {
        best = index;
      }
    }
    return best;
  }

  /** WON if all combinations of the missing votes win, LOST if none does. */
  private static VoteResult bruteForceVote(World world, List<Set<NodeId>> configurations) {
    List<NodeId> silent = new ArrayList<>(world.members);
    silent.removeAll(world.granted);
    silent.removeAll(world.rejected);
    int ways = 1 << silent.size();
    int yes = 0;
    for (int way = 0; way < ways; way++) {
      Set<NodeId> granted = new TreeSet<>(world.granted);
      for (int i = 0; i < silent.size(); i++) {
        if ((way >> i & 1) == 1) {
          granted.add(silent.get(i));
        }
      }
      if (configurations.stream()
          .allMatch(
              voters -> voters.stream().filter(granted::contains).count() * 2 > voters.size())) {
        yes++;
      }
    }
    return yes == ways ? VoteResult.WON : yes == 0 ? VoteResult.LOST : VoteResult.PENDING;
  }

  /** Members with a matched index of 0..12 each and a vote for or against, or none. */
  private static final class World {
    final Random random;
    final Set<NodeId> members = new TreeSet<>();
    final TreeMap<NodeId, Long> matched = new TreeMap<>();
    final Set<NodeId> granted = new TreeSet<>();
    final Set<NodeId> rejected = new TreeSet<>();

    World(long seed, int n) {
      random = new Random(seed);
      for (int i = 1; i <= n; i++) {
        NodeId member = new NodeId(i);
        members.add(member);
        matched.put(member, (long) random.nextInt(13));
        int word = random.nextInt(3);
        if (word > 0) {
          (word == 1 ? granted : rejected).add(member);
        }
      }
    }

    long matched(NodeId member) {
      return matched.getOrDefault(member, 0L);
    }

    /** Not empty. */
    Set<NodeId> subset() {
      Set<NodeId> subset = new TreeSet<>();
      for (NodeId member : members) {
        if (random.nextBoolean()) {
          subset.add(member);
        }
      }
      if (subset.isEmpty()) {
        subset.add(members.iterator().next());
      }
      return subset;
    }
  }
}
