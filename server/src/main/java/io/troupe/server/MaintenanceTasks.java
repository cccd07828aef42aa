package io.troupe.server;

import io.troupe.model.NodeId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import scala.concurrent.ExecutionContext;

/**
 * The periodic tasks of a member: automatic compaction (2.16), comparisons with other members (Q5),
 * and versions (8.7). Runs until the scheduler stops.
 */
public final class MaintenanceTasks {
  private final Member member;
  private final Proposer proposer;
  private final CorruptionCheck check;
  private final VersionMonitor versions;
  private final UpkeepSettings settings;
  private final Duration requestTimeout;

  MaintenanceTasks(
      Member member,
      Proposer proposer,
      CorruptionCheck check,
      VersionMonitor versions,
      UpkeepSettings settings,
      Duration requestTimeout) {
    this.member = member;
    this.proposer = proposer;
    this.check = check;
    this.versions = versions;
    this.settings = settings;
    this.requestTimeout = requestTimeout;
  }

  /**
   * Members whose content differs from this member's; empty also if the check is disabled, or if no
   * member replies.
   */
  public CompletionStage<List<NodeId>> initialCheck() {
    return settings.initialCorruptCheck()
        ? check.initial(requestTimeout)
        : CompletableFuture.completedFuture(List.of());
  }

  /** Starts the tasks; must be called once, when the member serves. */
  public void start() {
    if (settings.retention() instanceof UpkeepSettings.Retention.Time time) {
      compactor(new AutoCompaction.Periodic(time.time(), nowMs()));
    } else if (settings.retention() instanceof UpkeepSettings.Retention.Revisions revisions) {
      compactor(new AutoCompaction.ByRevision(revisions.revisions()));
    }
    every(settings.corruptCheckTime(), check::periodic);
    every(settings.compactHashCheckTime(), check::compactions);
    versions.start();
  }

  private void compactor(AutoCompaction rule) {
    new AutoCompactor(member, proposer, rule, MaintenanceTasks::nowMs).start();
  }

  private void every(Duration interval, Runnable what) {
    if (!interval.isZero()) {
      member
          .scheduler()
          .scheduleWithFixedDelay(
              interval, interval, what, ExecutionContext.fromExecutor(member.reads().points()));
    }
  }

  private static long nowMs() {
    return System.nanoTime() / 1_000_000;
  }
}
