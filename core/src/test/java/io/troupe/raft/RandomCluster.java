package io.troupe.raft;

import static io.troupe.model.Invariant.require;

import io.troupe.model.NodeId;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One seeded run: a time of random events and faults, then no more faults, and the cluster must
 * become idle.
 */
final class RandomCluster {
  final SimCluster cluster;
  private final SplittableRandom random;
  private final boolean calm;
  private final boolean withChanges;

  /** Messages accumulate: mostly elections happen. */
  private final boolean busyNetwork;

  private int[] side;
  private boolean[] slowClock;
  private long nextRead = 1;
  private int nextOperation = 1;

  RandomCluster(long seed) {
    random = new SplittableRandom(seed);
    int voters = random.nextInt(10) == 0 ? 1 : random.nextBoolean() ? 3 : 5;
    int learners = random.nextInt(6) == 0 ? 1 : 0;
    withChanges = random.nextInt(3) > 0;
    busyNetwork = random.nextInt(3) == 0;
    boolean small = random.nextInt(3) == 0;
    RaftSettings settings =
        new RaftSettings(
            5,
            1,
            1 + random.nextInt(6),
            200,
            1 + random.nextInt(4),
            small ? 10 : 100,
            small ? 6 : 100,
            small ? 1000 : 100_000,
            random.nextInt(3) == 0 ? 12 : 0);
    // Some runs have few faults and make progress, most have many.
    calm = random.nextInt(4) == 0;
    cluster = new SimCluster(voters, learners, withChanges ? 3 : 0, settings, false);
    if (random.nextBoolean()) {
      cluster.bootstrap();
    }
    side = new int[cluster.nodes.size()];
    slowClock = new boolean[side.length];
    for (SimNode node : cluster.nodes) {
      node.boot(random.nextLong());
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps; i++) {
      step();
    }
    heal();
  }

  private void step() {
    int dice = random.nextInt(1000);
    SimNode node = cluster.nodes.get(random.nextInt(cluster.nodes.size()));
    if (dice < 500) {
      for (int i = 1 + random.nextInt(busyNetwork ? 2 : 6); i > 0; i--) {
        network();
      }
    } else if (dice < 600) {
      tickAll();
    } else if (dice < (calm ? 980 : 974)) {
      work(node, dice);
    } else if (dice < (calm ? 983 : 982)) {
      if (node.isUp()) {
        node.crash(random.nextInt(3) == 0 ? random.nextInt(4) : 0, random.nextInt(4));
      }
    } else if (dice < 994) {
      if (!node.isUp()) {
        node.boot(random.nextLong());
      }
    } else if (dice < 997) {
      compact(node);
    } else {
      split();
    }
    membership(random.nextInt(5) == 0 ? node : mostKnowing(node));
  }

  /** A leader if there is one, else the given node. */
  private SimNode mostKnowing(SimNode otherwise) {
    for (SimNode node : cluster.nodes) {
      if (node.isUp() && node.core().status().role() == RaftRole.LEADER) {
        return node;
      }
    }
    return otherwise;
  }

  private void membership(SimNode node) {
    int second = random.nextInt(200);
    if (second < 12 && withChanges && node.isUp()) {
      cluster.change(node, changes(node));
    } else if (second < 13 && node.isUp()) {
      node.core().transferLeadership(new NodeId(1 + random.nextInt(cluster.nodes.size())));
      node.check();
    } else if (second < 14 && random.nextInt(3) == 0 && node.isUp()) {
      node.core().handOver();
      node.check();
    }
  }

  /** One or two changes, most of them valid. */
  private List<ConfChange> changes(SimNode node) {
    List<ConfChange> changes = new ArrayList<>();
    Membership membership = node.appliedMembership();
    int count = random.nextInt(3) == 0 ? 2 : 1;
    for (int i = 0; i < count; i++) {
      NodeId member = new NodeId(1 + random.nextInt(cluster.nodes.size()));
      int dice = random.nextInt(10);
      ConfChange.Kind kind;
      if (membership.learners().contains(member)) {
        kind = dice < 8 ? ConfChange.Kind.PROMOTE : ConfChange.Kind.REMOVE;
      } else if (membership.isVoter(member)) {
        kind = dice < 6 ? ConfChange.Kind.REMOVE : ConfChange.Kind.UPDATE;
      } else {
        kind = dice < 5 ? ConfChange.Kind.ADD_VOTER : ConfChange.Kind.ADD_LEARNER;
      }
      changes.add(new ConfChange(kind, member));
    }
    return changes;
  }

  /**
   * Heals the network, partitions it, or isolates a leader, whose clock may then run slowly: it
   * believes longer that it leads.
   */
  private void split() {
    Membership changing = jointMembership();
    if (changing != null && random.nextInt(3) > 0) {
      // The hardest partition: between the incoming and the outgoing voters.
      for (int i = 0; i < side.length; i++) {
        side[i] = changing.outgoing().contains(cluster.nodes.get(i).id) ? 1 : 0;
      }
      return;
    }
    int dice = random.nextInt(4);
    boolean slow = random.nextBoolean();
    for (int i = 0; i < side.length; i++) {
      SimNode node = cluster.nodes.get(i);
      boolean leads = node.isUp() && node.core().status().role() == RaftRole.LEADER;
      side[i] = dice == 0 ? 0 : dice == 1 ? random.nextInt(2) : leads ? 1 : 0;
      slowClock[i] = slow && side[i] == 1;
    }
  }

  private @Nullable Membership jointMembership() {
    for (SimNode node : cluster.nodes) {
      if (node.isUp() && node.core().membership().isJoint()) {
        return node.core().membership();
      }
    }
    return null;
  }

  private void network() {
    if (cluster.network.isEmpty()) {
      return;
    }
    // Mostly the older messages first.
    int at = random.nextInt(Math.min(cluster.network.size(), random.nextInt(4) == 0 ? 40 : 3));
    SimCluster.Flight flight = cluster.network.get(at);
    int dice = random.nextInt(100);
    boolean cut = side[at(flight.from())] != side[at(flight.to())];
    if (dice >= 5) {
      cluster.network.remove(at);
    }
    if (!cut && (dice < 5 || dice >= (calm ? 6 : 12))) {
      cluster.deliver(flight);
    }
  }

  private static int at(NodeId id) {
    return (int) id.value() - 1;
  }

  private void tickAll() {
    for (SimNode node : cluster.nodes) {
      int dice = random.nextInt(8);
      if (node.isUp() && (slowClock[at(node.id)] ? dice == 0 : dice > 0)) {
        node.core().tick();
        node.check();
      }
    }
  }

  private void work(SimNode node, int dice) {
    if (!node.isUp()) {
      return;
    }
    if (node.core().hasDelayedAppends() && random.nextInt(4) == 0) {
      node.core().flushDelayedAppends();
      node.check();
    }
    if (dice < 780) {
      int unforced = node.disk.unforced.size();
      if (unforced > 1 && random.nextBoolean()) {
        node.forceTogether(1 + random.nextInt(unforced));
      } else if (unforced > 0) {
        node.force();
      }
    } else if (dice < 870) {
      while (node.canApply()) {
        node.applyOldest();
      }
      if (random.nextInt(3) == 0) {
        node.flushMachine();
      }
      if (!node.transfers.isEmpty()) {
        node.finishTransfer(random.nextInt(4) > 0);
      }
      if (!node.logReads.isEmpty()) {
        node.answerQuestion();
      }
    } else if (dice < 930) {
      cluster.propose(node, names(1 + random.nextInt(4)));
    } else {
      node.read(nextRead++);
    }
  }

  private List<String> names(int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add("o" + nextOperation++);
    }
    return names;
  }

  private static void compact(SimNode node) {
    if (node.isUp()) {
      node.flushMachine();
      node.compact(Math.min(node.disk.applied(), node.core().status().applied()));
    }
  }

  // ---- after the faults

  /**
   * Members that learned of their removal stay down, all others start again, unknown members too.
   */
  private void heal() {
    side = new int[side.length];
    slowClock = new boolean[side.length];
    for (SimNode node : cluster.nodes) {
      if (node.isUp() && node.removed) {
        node.crash(0);
      } else if (!node.isUp() && !node.removed) {
        node.boot(random.nextLong());
      }
    }
    quietRounds(80);
    SimNode leader = leader();
    Membership membership = leader.core().membership();
    require(membership.isTransitionComplete(), "membership is not settled: " + membership);
    serve(membership);
    for (NodeId voter : membership.voters()) {
      if (!voter.equals(leader.id)) {
        leader.core().transferLeadership(voter);
        leader.check();
        quietRounds(4);
        require(leader().id.equals(voter), "transfer did not work without faults");
        cluster.transfersDone++;
        serve(membership);
        break;
      }
    }
    for (SimNode node : cluster.nodes) {
      boolean gone = membership.removed().contains(node.id);
      // A member without any membership, or whose members were all removed, has no member to
      // contact.
      boolean lonely =
          node.isUp()
              && node.core().membership().members().stream()
                  .allMatch(known -> known.equals(node.id) || membership.removed().contains(known));
      require(!gone || lonely || node.removed, "removed member does not know it: " + node.id);
    }
  }

  /** All proposals are applied everywhere, all reads are completed. */
  private void serve(Membership membership) {
    List<Proposal> last = new ArrayList<>();
    Map<SimNode, Long> reads = new HashMap<>();
    List<SimNode> members =
        cluster.nodes.stream().filter(node -> membership.contains(node.id)).toList();
    for (SimNode node : members) {
      last.addAll(cluster.propose(node, names(2)));
      reads.put(node, nextRead);
      node.read(nextRead++);
      // One after the other, because of a small limit of pending proposals.
      quietRounds(3);
    }
    quietRounds(10);
    for (Proposal proposal : last) {
      require(cluster.isApplied(proposal), "proposal got lost without faults: " + proposal);
    }
    for (SimNode node : members) {
      require(
          node.core().status().applied() == cluster.truthLength(),
          "member keeps lagging: " + node.id + " " + node.core().status());
      require(node.core().membership().equals(membership), "another membership at " + node.id);
      require(
          node.releasedReads.containsKey(reads.get(node)),
          "read got lost without faults at " + node.id);
    }
  }

  private SimNode leader() {
    List<SimNode> leaders =
        cluster.nodes.stream()
            .filter(n -> n.isUp() && n.core().status().role() == RaftRole.LEADER)
            .toList();
    require(leaders.size() == 1, "leaders after the faults", leaders.size(), 1);
    return leaders.get(0);
  }

  private void quietRounds(int rounds) {
    for (int i = 0; i < rounds; i++) {
      for (SimNode node : cluster.nodes) {
        if (node.isUp()) {
          node.core().tick();
          node.check();
        }
      }
      settle();
    }
  }

  /** Runs until all members are idle; endless messages are an error. */
  private void settle() {
    int budget = 20_000;
    boolean busy = true;
    while (busy) {
      busy = false;
      while (!cluster.network.isEmpty()) {
        require(budget-- > 0, "endless chatter");
        cluster.deliver(cluster.network.remove(0));
        busy = true;
      }
      for (SimNode node : cluster.nodes) {
        while (!node.disk.unforced.isEmpty()) {
          node.force();
          busy = true;
        }
        while (node.canApply()) {
          node.applyOldest();
          busy = true;
        }
        for (int i = node.transfers.size(); i > 0; i--) {
          node.finishTransfer(true);
          busy = true;
        }
        while (!node.logReads.isEmpty()) {
          node.answerQuestion();
          busy = true;
        }
      }
    }
  }
}
