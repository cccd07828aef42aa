package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.machine.StateView;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Invariants of the versions of all members together (8.7). Shares no rule with the product: it
 * knows which programs really ran.
 */
final class VersionChecks {
  /** A member that is too old stops after its next check; pauses are not running time. */
  private static final long STOPS_WITHIN_US = 1_000_000;

  /** One run of a program; {@code until} is the moment of its end, or MAX_VALUE. */
  private record Ran(EtcdVersion program, long until) {}

  /** A decision of a leader, and the moment when its round began. */
  private record Decision(long began, Set<NodeId> members) {}

  private final Coverage coverage;
  private final NavigableMap<Long, ClusterVersions> byIndex = new TreeMap<>();
  private final Map<NodeId, List<Ran>> programs = new HashMap<>();
  private final IdentityHashMap<Operation, Decision> decisions = new IdentityHashMap<>();
  private Set<NodeId> members = Set.of();
  private long moment;

  VersionChecks(Coverage coverage) {
    this.coverage = coverage;
    byIndex.put(0L, ClusterVersions.UNDECIDED);
  }

  /**
   * A process begins to work.
   *
   * @param state what it recovered
   */
  void started(NodeId member, EtcdVersion program, ClusterVersions state) {
    require(!isOlder(program, state), "a member starts that is too old", member, program, state);
    moment++;
    programs.computeIfAbsent(member, id -> new ArrayList<>()).add(new Ran(program, Long.MAX_VALUE));
  }

  /** A process ended. */
  void stopped(NodeId member) {
    moment++;
    List<Ran> runs = programs.getOrDefault(member, List.of());
    if (!runs.isEmpty()) {
      int last = runs.size() - 1;
      runs.set(last, new Ran(runs.get(last).program(), moment));
    }
  }

  /** A process runs on a state. */
  void runs(NodeId member, EtcdVersion program, ClusterVersions state, long tooOldUs) {
    require(
        !isOlder(program, state) || tooOldUs < STOPS_WITHIN_US,
        "a member runs that is too old",
        member,
        program,
        state);
  }

  static boolean isOlder(EtcdVersion program, ClusterVersions state) {
    return isOlder(program, state.cluster()) || isOlder(program, state.storage());
  }

  private static boolean isOlder(EtcdVersion program, @Nullable EtcdVersion version) {
    return version != null
        && (program.major() != version.major() || program.minor() < version.minor());
  }

  /** Current moment: a number that grows when a process starts or ends. */
  long moment() {
    return moment;
  }

  /** Members after all entries that any member applied. */
  Set<NodeId> members() {
    return members;
  }

  /**
   * A leader proposes an operation.
   *
   * @param began moment when its round began
   * @param membersThen {@link #members} at that moment
   */
  void decided(Operation.Versions operation, long began, Set<NodeId> membersThen) {
    decisions.put(operation, new Decision(began, membersThen));
  }

  /**
   * An entry was applied for the first time.
   *
   * @param operation of the entry; null if it has none
   * @param after state of all entries so far
   */
  void applied(long index, @Nullable Operation operation, StateView after) {
    members = after.membership().members();
    ClusterVersions was = byIndex.lastEntry().getValue();
    ClusterVersions now = after.versions();
    if (now.equals(was)) {
      return;
    }
    byIndex.put(index, now);
    EtcdVersion cluster = now.cluster();
    require(Objects.equals(cluster, now.storage()), "storage and cluster version differ", now);
    if (cluster != null && !cluster.equals(was.cluster())) {
      clusterChanged(Objects.requireNonNull(operation), was, cluster);
    }
    EtcdVersion target = now.downgradeTarget();
    EtcdVersion former = was.downgradeTarget();
    if (target != null && !target.equals(former)) {
      require(former == null, "a downgrade begins during another one", was, now);
      require(
          was.cluster() != null && target.minor() == was.cluster().minor() - 1,
          "a downgrade by more than one minor version",
          was,
          now);
      coverage.count("downgrades enabled");
    } else if (target == null && former != null) {
      downgradeEnded(Objects.requireNonNull(operation), was, former);
    }
  }

  private void clusterChanged(Operation operation, ClusterVersions was, EtcdVersion cluster) {
    EtcdVersion target = was.downgradeTarget();
    if (target != null) {
      require(cluster.equals(target), "the cluster version rises in a downgrade", was, cluster);
      coverage.count("cluster versions lowered");
    } else if (was.cluster() != null) {
      require(cluster.compareTo(was.cluster()) > 0, "the cluster version falls", was, cluster);
      coverage.count("cluster versions raised");
    } else {
      coverage.count("cluster versions decided");
    }
    requireAll(
        operation,
        program -> program.minor() >= cluster.minor(),
        "the cluster version exceeds the version of a member",
        cluster);
  }

  /** A client may cancel at any time, a leader only when all members are down. */
  private void downgradeEnded(Operation operation, ClusterVersions was, EtcdVersion target) {
    if (!decisions.containsKey(operation)) {
      coverage.count("downgrades canceled");
      return;
    }
    require(target.equals(was.cluster()), "a downgrade ends before its beginning", was);
    requireAll(
        operation,
        program -> program.minor() == target.minor(),
        "a downgrade ends before a member is down",
        target);
    coverage.count("downgrades that ended by themselves");
  }

  /**
   * Each member ran a program that fits, after the round of the decision began. The operator may
   * have replaced it since; and a member that was added since was not asked.
   */
  private void requireAll(
      Operation operation, Predicate<EtcdVersion> fits, String what, EtcdVersion version) {
    Decision decision = decisions.get(operation);
    require(decision != null, "no leader decided on a change of versions", operation);
    if (decision == null) {
      return;
    }
    for (NodeId member : members) {
      if (decision.members().contains(member)) {
        List<Ran> runs = programs.getOrDefault(member, List.of());
        require(
            runs.stream()
                .anyMatch(run -> run.until() >= decision.began() && fits.test(run.program())),
            what,
            member,
            runs,
            version);
      }
    }
  }

  /** A member applied entries: it has the same versions as every other one at that index. */
  void agrees(NodeId member, StateView state) {
    require(
        state.versions().equals(byIndex.floorEntry(state.appliedIndex()).getValue()),
        "versions differ at an index",
        member,
        state.appliedIndex(),
        state.versions());
  }
}
