package io.troupe.server;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.RefusedException;
import io.troupe.version.VersionRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.concurrent.ExecutionContext;

/**
 * Keeps the versions of the cluster current (8.7). On every member it logs changes, and stops the
 * member when the cluster version rises above the version that it serves. On the leader it queries
 * the versions of all members and proposes what {@link VersionRules} decides.
 */
final class VersionMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(VersionMonitor.class);

  /** Interval between two reads of the versions in the state. */
  private static final Duration TICK = Duration.ofMillis(250);

  /** Interval between two rounds of queries while no change is due (V1). */
  private static final Duration INTERVAL = Duration.ofSeconds(4);

  /** Time limit of a query: a member that is up replies within milliseconds. */
  private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(1);

  private final Member member;
  private final Proposer proposer;
  private final MemberVersions versions;
  private final Duration downgradeCheckTime;
  private final Consumer<String> tooOld;
  private final AtomicBoolean busy = new AtomicBoolean();
  private volatile ClusterVersions seen = ClusterVersions.UNDECIDED;
  private volatile @Nullable ClusterVersions decidedOn;
  private volatile long queriedNanos;
  private volatile long checkedNanos;
  private volatile String waitingFor = "";
  private volatile boolean stopped;

  /**
   * Creates the monitor of a member.
   *
   * @param tooOld called once with the reason when this member can no longer be part of its cluster
   */
  VersionMonitor(
      Member member,
      Proposer proposer,
      PeerQueries peers,
      Duration downgradeCheckTime,
      Consumer<String> tooOld) {
    this.member = member;
    this.proposer = proposer;
    this.versions = new MemberVersions(member, peers, QUERY_TIMEOUT);
    this.downgradeCheckTime = downgradeCheckTime;
    this.tooOld = tooOld;
    this.queriedNanos = System.nanoTime() - INTERVAL.toNanos();
    this.checkedNanos = System.nanoTime();
  }

  /** Starts the monitor, which runs until the scheduler stops; must be called once. */
  void start() {
    member
        .scheduler()
        .scheduleWithFixedDelay(
            Duration.ZERO,
            TICK,
            this::tick,
            ExecutionContext.fromExecutor(member.reads().points()));
  }

  /** Reads the state once and acts on it; package-private for tests. */
  void tick() {
    ClusterVersions now;
    try {
      now = member.state().versions();
    } catch (RefusedException replaced) {
      LOG.debug("skipped check of versions, a snapshot replaces the state");
      return;
    }
    logChange(now);
    String refusal = VersionRules.refuseState(member.serverVersion(), now);
    if (refusal != null) {
      if (!stopped) {
        stopped = true;
        tooOld.accept(refusal);
      }
      return;
    }
    if (leads() && isDue(now) && busy.compareAndSet(false, true)) {
      round().whenComplete((done, failure) -> ended(failure));
    }
  }

  private boolean leads() {
    return member.status().leader().equals(member.status().memberId());
  }

  private boolean isDue(ClusterVersions now) {
    boolean changes =
        now.cluster() == null
            || (now.isDowngrading() && !Objects.equals(now.downgradeTarget(), now.cluster()));
    return changes || !now.equals(decidedOn) || isOver(queriedNanos, INTERVAL) || isCheckDue(now);
  }

  private boolean isCheckDue(ClusterVersions now) {
    return now.isDowngrading()
        && !downgradeCheckTime.isZero()
        && isOver(checkedNanos, downgradeCheckTime);
  }

  private static boolean isOver(long sinceNanos, Duration interval) {
    return System.nanoTime() - sinceNanos >= interval.toNanos();
  }

  private CompletionStage<?> round() {
    try {
      return versions.ask().thenCompose(this::propose);
    } catch (RefusedException replaced) {
      return CompletableFuture.failedFuture(replaced);
    }
  }

  private CompletionStage<?> propose(SortedMap<NodeId, Optional<EtcdVersion>> servers) {
    ClusterVersions now = member.state().versions();
    queriedNanos = System.nanoTime();
    decidedOn = now;
    List<CompletionStage<?>> proposed = new ArrayList<>();
    Operation.SetClusterVersion change = VersionRules.decide(now, servers.values());
    if (change != null) {
      LOG.info(
          "{} local-member-id={} from={} to={}",
          change.from() == null
              ? "setting up initial cluster version using v3 API"
              : "updating cluster version using v3 API",
          member.status().memberId(),
          text(change.from()),
          change.to().shortText());
      proposed.add(proposer.propose(change));
    }
    if (isCheckDue(now)) {
      checkedNanos = System.nanoTime();
      Operation.CancelDowngrade end = VersionRules.finish(now, servers.values());
      if (end != null) {
        LOG.info("the cluster has been downgraded cluster-version={}", text(now.cluster()));
        proposed.add(proposer.propose(end));
      } else {
        logWaiting(now, servers);
      }
    }
    return CompletableFuture.allOf(
        proposed.stream()
            .map(CompletionStage::toCompletableFuture)
            .toArray(CompletableFuture<?>[]::new));
  }

  /** Once for each change of the versions of members. */
  private void logWaiting(ClusterVersions now, SortedMap<NodeId, Optional<EtcdVersion>> servers) {
    StringJoiner texts = new StringJoiner(",");
    servers.forEach(
        (id, version) -> texts.add(id + ":" + version.map(EtcdVersion::toString).orElse("none")));
    String line = texts.toString();
    if (Objects.equals(now.downgradeTarget(), now.cluster()) && !line.equals(waitingFor)) {
      waitingFor = line;
      LOG.info(
          "downgrade is not complete, replace the members with other versions target-version={}"
              + " server-versions={}",
          text(now.downgradeTarget()),
          line);
    }
  }

  /** The next round tries again. */
  private void ended(@Nullable Throwable failure) {
    if (failure != null) {
      LOG.warn("failed to update cluster version, retrying reason={}", failure.toString());
    }
    busy.set(false);
  }

  private void logChange(ClusterVersions now) {
    ClusterVersions before = seen;
    if (now.equals(before)) {
      return;
    }
    seen = now;
    NodeId self = member.status().memberId();
    if (now.cluster() != null && !now.cluster().equals(before.cluster())) {
      LOG.info(
          "{} local-member-id={} from={} to={}",
          before.cluster() == null ? "set initial cluster version" : "updated cluster version",
          self,
          text(before.cluster()),
          text(now.cluster()));
    }
    if (now.isDowngrading()) {
      boolean ready = Objects.equals(now.storage(), now.downgradeTarget());
      LOG.info(
          "{} local-member-id={} target-version={} server-version={}",
          ready ? "The server is ready to downgrade" : "downgrade is enabled",
          self,
          text(now.downgradeTarget()),
          member.serverVersion());
    } else if (before.isDowngrading()) {
      LOG.info(
          "downgrade is not enabled any more local-member-id={} cluster-version={}",
          self,
          text(now.cluster()));
    }
  }

  private static String text(@Nullable EtcdVersion version) {
    return version == null ? "none" : version.shortText();
  }
}
