package io.troupe.version;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the versions of the cluster current (8.7). On each member it finds out when the member is
 * too old. On the leader it runs rounds, one at a time:
 *
 * <ol>
 *   <li>A quorum confirms the leadership, and the state has everything that was committed before:
 *       no member is unknown.
 *   <li>All members are asked for the version that they serve.
 *   <li>{@link VersionRules} decide on the versions and the members that the state has now. The
 *       leader proposes the decision for its term only: a later leader decides itself (decision
 *       0245).
 * </ol>
 *
 * <p>Times are nanoseconds of a monotonic clock. Not thread-safe.
 */
public final class VersionCore {
  /** Interval between two calls of {@link #check}. */
  public static final long CHECK_NANOS = 250_000_000L;

  /** Interval between two rounds while no change is due (V1). */
  static final long ROUND_NANOS = 4_000_000_000L;

  private enum Step {
    IDLE,
    CONFIRMING,
    QUERYING,
    PROPOSING
  }

  private final EtcdVersion server;
  private final long downgradeCheckNanos;
  private final VersionEffects effects;
  private Step step = Step.IDLE;
  private long term;
  private @Nullable ClusterVersions decidedOn;
  private long queriedNanos;
  private long checkedNanos;
  private boolean stopped;

  /**
   * Creates the core of a running member.
   *
   * @param server version that this member serves
   * @param downgradeCheckNanos interval between two checks whether a downgrade is complete; 0: a
   *     downgrade never ends by itself (MT12)
   * @param nowNanos current time
   */
  public VersionCore(
      EtcdVersion server, long downgradeCheckNanos, long nowNanos, VersionEffects effects) {
    this.server = server;
    this.downgradeCheckNanos = downgradeCheckNanos;
    this.effects = effects;
    this.queriedNanos = nowNanos;
    this.checkedNanos = nowNanos;
  }

  /**
   * Checks the versions in the state; the shell calls it every {@link #CHECK_NANOS}.
   *
   * @param leads term in which this member leads; 0 if it does not
   */
  public void check(ClusterVersions now, long leads, long nowNanos) {
    String refusal = VersionRules.refuseState(server, now);
    if (refusal != null) {
      if (!stopped) {
        stopped = true;
        effects.tooOld(refusal);
      }
      return;
    }
    if (leads != 0 && step == Step.IDLE && isDue(now, nowNanos)) {
      step = Step.CONFIRMING;
      term = leads;
      effects.confirmLeadership(term);
    }
  }

  private boolean isDue(ClusterVersions now, long nowNanos) {
    boolean changes =
        now.cluster() == null
            || (now.isDowngrading() && !Objects.equals(now.downgradeTarget(), now.cluster()));
    return changes
        || !now.equals(decidedOn)
        || nowNanos - queriedNanos >= ROUND_NANOS
        || isCheckDue(now, nowNanos);
  }

  private boolean isCheckDue(ClusterVersions now, long nowNanos) {
    return now.isDowngrading()
        && downgradeCheckNanos > 0
        && nowNanos - checkedNanos >= downgradeCheckNanos;
  }

  /**
   * A quorum confirmed the leadership in the term of the round, and the state includes everything
   * that was committed when the confirmation began; or not.
   */
  public void leadershipConfirmed(boolean leads) {
    if (step != Step.CONFIRMING) {
      return;
    }
    if (leads) {
      step = Step.QUERYING;
      effects.queryMembers();
    } else {
      step = Step.IDLE;
    }
  }

  /**
   * The members replied, or their time is over.
   *
   * @param now versions in the state
   * @param members all members of the state
   * @param replies of the members that were asked; empty for one that did not reply
   */
  public void replied(
      ClusterVersions now,
      Set<NodeId> members,
      SortedMap<NodeId, Optional<EtcdVersion>> replies,
      long nowNanos) {
    if (step != Step.QUERYING) {
      return;
    }
    step = Step.PROPOSING;
    queriedNanos = nowNanos;
    decidedOn = now;
    // A member that was added meanwhile was not asked.
    SortedMap<NodeId, Optional<EtcdVersion>> servers = new TreeMap<>();
    members.forEach(id -> servers.put(id, replies.getOrDefault(id, Optional.empty())));
    List<Operation.Versions> operations = new ArrayList<>();
    Operation.SetClusterVersion change = VersionRules.decide(now, servers.values());
    if (change != null) {
      operations.add(change);
    }
    if (isCheckDue(now, nowNanos)) {
      checkedNanos = nowNanos;
      Operation.CancelDowngrade end = VersionRules.finish(now, servers.values());
      if (end != null) {
        operations.add(end);
      } else {
        effects.downgradeWaits(now, Collections.unmodifiableSortedMap(servers));
      }
    }
    effects.propose(term, List.copyOf(operations));
  }

  /** All proposals of the round ended, or their time is over. */
  public void proposalsEnded() {
    if (step == Step.PROPOSING) {
      step = Step.IDLE;
    }
  }

  /** The round ended early: the state is not readable, or a query failed. The next one is due. */
  public void roundFailed() {
    step = Step.IDLE;
  }
}
