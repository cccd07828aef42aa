package io.troupe.raft;

import static io.troupe.model.Invariant.require;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Members in one thread with a network as a list of messages, and the invariants that hold over all
 * of them.
 */
final class SimCluster {
  /** A message in flight. */
  record Flight(NodeId from, NodeId to, PeerMessage message) {}

  private record Position(long index, long term) {}

  private record Placed(Entry entry, long prevTerm) {}

  final List<SimNode> nodes = new ArrayList<>();
  final List<Flight> network = new ArrayList<>();
  final List<String> trace = new ArrayList<>();
  long releases;
  long elections;
  long acknowledged;
  long snapshots;
  long logReads;
  long transfersDone;
  private final boolean tracing;
  private final Map<Long, NodeId> leaders = new HashMap<>();
  private final Map<Position, Placed> placed = new HashMap<>();
  private final List<Entry> truth = new ArrayList<>();
  private final Set<Bytes> operations = new HashSet<>();
  private final Set<Bytes> refused = new HashSet<>();
  private final Map<Long, Bytes> proposed = new HashMap<>();
  private final Map<Bytes, NodeId> proposer = new HashMap<>();
  private final Map<Long, Membership> memberships = new HashMap<>();
  private long nextRequest = 1;

  SimCluster(int voters, int learners, RaftSettings settings, boolean tracing) {
    this(voters, learners, 0, settings, tracing);
  }

  /** Members 1, 2, ...: voters, learners, then members without a cluster. */
  SimCluster(int voters, int learners, int spare, RaftSettings settings, boolean tracing) {
    this.tracing = tracing;
    Set<NodeId> voting = new HashSet<>();
    Set<NodeId> learning = new HashSet<>();
    for (int i = 1; i <= voters + learners; i++) {
      (i <= voters ? voting : learning).add(new NodeId(i));
    }
    Membership membership = new Membership(voting, learning);
    for (int i = 1; i <= voters + learners + spare; i++) {
      boolean member = i <= voters + learners;
      nodes.add(new SimNode(new NodeId(i), this, member ? membership : Membership.EMPTY, settings));
    }
  }

  /** The existing members get the same first entry instead of a membership from outside. */
  void bootstrap() {
    List<ConfChange> changes = new ArrayList<>();
    for (SimNode node : nodes) {
      if (node.appliedMembership().voters().contains(node.id)) {
        changes.add(new ConfChange(ConfChange.Kind.ADD_VOTER, node.id));
      } else if (node.appliedMembership().contains(node.id)) {
        changes.add(new ConfChange(ConfChange.Kind.ADD_LEARNER, node.id));
      }
    }
    for (SimNode node : nodes) {
      if (node.appliedMembership().contains(node.id)) {
        node.disk.fill(RaftState.bootstrap(node.id, changes));
      }
    }
  }

  SimNode node(NodeId id) {
    return nodes.get((int) id.value() - 1);
  }

  void trace(NodeId id, Supplier<String> line) {
    if (tracing) {
      trace.add(id + ": " + line.get());
    }
  }

  /** Delivers one message, unless the receiver is down. */
  void deliver(Flight flight) {
    SimNode node = node(flight.to());
    if (node.isUp()) {
      node.core().receive(flight.from(), flight.message());
      node.check();
    }
  }

  /** Proposes new operations; returns their number. */
  List<Proposal> propose(SimNode node, List<String> names) {
    List<Proposal> batch = new ArrayList<>();
    for (String name : names) {
      RequestId id = new RequestId(nextRequest++);
      Bytes operation = Bytes.utf8(name);
      proposed.put(id.value(), operation);
      proposer.put(operation, node.id);
      batch.add(new Proposal(id, operation));
    }
    node.core().propose(batch);
    node.check();
    return batch;
  }

  /** Proposes a change based on the state machine of the node; returns its number. */
  RequestId change(SimNode node, List<ConfChange> changes) {
    RequestId id = new RequestId(nextRequest++);
    node.core()
        .proposeConfChange(new ConfProposal(id, changes, node.appliedMembership().version()));
    node.check();
    return id;
  }

  // ---- the rules

  /**
   * At most one leader in a term, and it has everything that was ever applied anywhere (3.4,
   * 3.6.1).
   */
  void elected(SimNode node, long term) {
    NodeId former = leaders.putIfAbsent(term, node.id);
    require(former == null || former.equals(node.id), "two leaders in term " + term);
    elections++;
    RaftLog log = node.core().log;
    for (int i = truth.size(); i > log.snapshotIndex() && i > truth.size() - 200; i--) {
      require(log.termAt(i) == truth.get(i - 1).term(), "leader lacks an applied entry", i, term);
    }
  }

  /** Log matching (3.5): an index and a term name one entry, and one predecessor. */
  void appended(Entry entry, long prevTerm) {
    Placed now = new Placed(entry, prevTerm);
    Placed before = placed.putIfAbsent(new Position(entry.index(), entry.term()), now);
    require(
        before == null || before.equals(now), "log matching broken at " + before + " and " + now);
  }

  /** Applied prefixes are equal (3.6.3), and nothing is applied twice or after it was refused. */
  void applied(SimNode node, Entry entry) {
    int at = (int) entry.index() - 1;
    if (at < truth.size()) {
      require(
          truth.get(at).equals(entry),
          "applied prefixes differ at " + entry + " and " + truth.get(at));
    } else {
      require(at == truth.size(), "applied with a gap");
      truth.add(entry);
      if (entry.kind() == Entry.Kind.OPERATION) {
        require(operations.add(entry.data()), "operation in the log twice: " + entry);
        require(!refused.contains(entry.data()), "refused, yet applied: " + entry);
      }
    }
    if (node.id.equals(proposer.get(entry.data()))) {
      acknowledged++;
    }
  }

  /** A snapshot represents the entries that all members applied up to there. */
  void installed(SnapshotMark mark) {
    require(mark.index() <= truth.size(), "snapshot of unapplied entries");
    Entry last = truth.get((int) mark.index() - 1);
    require(last.term() == mark.term(), "snapshot of another log", last.term(), mark.term());
    Membership expected = null;
    for (int i = 0; i < mark.index(); i++) {
      if (truth.get(i).kind() == Entry.Kind.CONF_CHANGE) {
        expected = MembershipCodec.decodeEntry(truth.get(i).data()).after();
      }
    }
    require(
        expected == null ? mark.membership().version() == 0 : expected.equals(mark.membership()),
        "snapshot with another membership: " + mark + " " + expected);
  }

  /** An index has one membership, however members learn of it. */
  void configured(Membership membership) {
    Membership before = memberships.putIfAbsent(membership.version(), membership);
    require(
        before == null || before.equals(membership),
        "memberships differ: " + before + " " + membership);
  }

  boolean isRemoved(NodeId id) {
    return memberships.values().stream().anyMatch(m -> m.removed().contains(id));
  }

  int changes() {
    return memberships.size();
  }

  void rejected(RequestId id) {
    Bytes operation = proposed.get(id.value());
    if (operation != null) {
      require(!operations.contains(operation), "refused after it was applied: " + operation);
      refused.add(operation);
    }
  }

  long truthLength() {
    return truth.size();
  }

  boolean isApplied(Proposal proposal) {
    return operations.contains(proposal.operation());
  }
}
