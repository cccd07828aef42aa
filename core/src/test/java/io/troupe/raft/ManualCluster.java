package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.raft.membership.ConfChange;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A {@link SimCluster} whose network and disks are controlled by the test, without randomness. */
final class ManualCluster {
  static final RaftSettings SETTINGS = new RaftSettings(10, 2, 4, 1000, 4, 1000, 100, 100_000, 0);

  final SimCluster cluster;

  /** These members send and receive nothing. */
  private final Set<NodeId> cutOff = new HashSet<>();

  /** Members 1, 2, ... are up, first the voters; the spare members are down. */
  ManualCluster(int voters, int learners, int spare) {
    cluster = new SimCluster(voters, learners, spare, SETTINGS, false);
    cluster.bootstrap();
    for (int i = 1; i <= voters + learners; i++) {
      boot(i);
    }
  }

  SimNode node(long id) {
    return cluster.node(new NodeId(id));
  }

  RaftStatus status(long id) {
    return node(id).core().status();
  }

  void boot(long id) {
    node(id).boot(id);
  }

  void cut(long... ids) {
    for (long id : ids) {
      cutOff.add(new NodeId(id));
    }
  }

  void heal() {
    cutOff.clear();
  }

  /** Time passes for one member until it campaigns; then all messages are delivered. */
  ManualCluster elect(long id) {
    // So that the other members no longer have a working leader.
    for (SimNode node : cluster.nodes) {
      if (node.isUp() && node.id.value() != id && !node.core().status().leader().isNone()) {
        tick(node, SETTINGS.electionTicks());
      }
    }
    for (int i = 0; i < 2 * SETTINGS.electionTicks(); i++) {
      if (status(id).role() == RaftRole.FOLLOWER) {
        tick(node(id), 1);
      }
    }
    settle();
    return this;
  }

  private static void tick(SimNode node, int ticks) {
    for (int i = 0; i < ticks; i++) {
      node.core().tick();
      node.check();
    }
  }

  /** Time passes for all running members; all messages are delivered after each tick. */
  void pass(int ticks) {
    for (int i = 0; i < ticks; i++) {
      for (SimNode node : cluster.nodes) {
        if (node.isUp()) {
          tick(node, 1);
        }
      }
      settle();
    }
  }

  /** The member that leads in the highest term. */
  SimNode leader() {
    SimNode best = null;
    for (SimNode node : cluster.nodes) {
      if (node.isUp()
          && node.core().status().role() == RaftRole.LEADER
          && (best == null || best.core().status().term() < node.core().status().term())) {
        best = node;
      }
    }
    if (best == null) {
      throw new AssertionError("no member leads");
    }
    return best;
  }

  void change(SimNode node, ConfChange... changes) {
    cluster.change(node, List.of(changes));
  }

  boolean isWritable(SimNode node, String name) {
    List<Proposal> proposals = cluster.propose(node, List.of(name));
    settle();
    pass(SETTINGS.heartbeatTicks());
    return cluster.isApplied(proposals.get(0));
  }

  static ConfChange change(ConfChange.Kind kind, long id) {
    return new ConfChange(kind, new NodeId(id));
  }

  void settle() {
    while (step()) {
      // One step for each iteration.
    }
  }

  /** Executes the next pending step: a message, a write, work of a state machine. False if none. */
  boolean step() {
    while (!cluster.network.isEmpty()) {
      SimCluster.Flight flight = cluster.network.remove(0);
      if (!cutOff.contains(flight.from()) && !cutOff.contains(flight.to())) {
        cluster.deliver(flight);
        endExpelled();
        return true;
      }
    }
    for (SimNode node : new ArrayList<>(cluster.nodes)) {
      if (node.isUp() && stepOf(node)) {
        endExpelled();
        return true;
      }
    }
    return false;
  }

  private static boolean stepOf(SimNode node) {
    if (!node.disk.unforced.isEmpty()) {
      node.force();
    } else if (node.canApply()) {
      node.applyOldest();
    } else if (!node.logReads.isEmpty()) {
      node.answerQuestion();
    } else if (!node.transfers.isEmpty()) {
      node.finishTransfer(true);
    } else {
      return false;
    }
    return true;
  }

  /**
   * A process that learns of its removal stops immediately: the hardest case for the other members.
   */
  private void endExpelled() {
    for (SimNode node : cluster.nodes) {
      if (node.isUp() && node.removed) {
        node.crash(0);
      }
    }
  }
}
