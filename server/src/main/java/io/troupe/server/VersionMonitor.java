package io.troupe.server;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.RefusedException;
import io.troupe.version.VersionCore;
import io.troupe.version.VersionEffects;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.concurrent.ExecutionContext;

/**
 * The shell of {@link VersionCore}: reads the state, sends the queries and proposals, logs changes,
 * and reports when this member must stop. Replies arrive on other threads, so the core is used
 * under the lock of the monitor.
 */
final class VersionMonitor implements VersionEffects {
  private static final Logger LOG = LoggerFactory.getLogger(VersionMonitor.class);

  private static final Duration TICK = Duration.ofNanos(VersionCore.CHECK_NANOS);

  /** Time limit of a query: a member that is up replies within milliseconds. */
  private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(1);

  private final Member member;
  private final Proposer proposer;
  private final MemberVersions versions;
  private final Consumer<String> tooOld;
  private final VersionCore core;
  private ClusterVersions seen = ClusterVersions.UNDECIDED;
  private String waitingFor = "";

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
    this.tooOld = tooOld;
    this.core =
        new VersionCore(
            member.serverVersion(), downgradeCheckTime.toNanos(), System.nanoTime(), this);
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
  synchronized void tick() {
    ClusterVersions now;
    try {
      now = member.state().versions();
    } catch (RefusedException replaced) {
      LOG.debug("skipped check of versions, a snapshot replaces the state");
      return;
    }
    logChange(now);
    core.check(now, leads(), System.nanoTime());
  }

  /** The term in which this member leads, or 0. A term that ended leads to a refusal. */
  private long leads() {
    long term = member.status().term();
    return member.status().leader().equals(member.status().memberId()) ? term : 0;
  }

  /** Replies arrive on threads that must not wait for the lock of this monitor. */
  private <R> void then(
      CompletionStage<R> reply, BiConsumer<@Nullable R, @Nullable Throwable> handler) {
    reply.whenCompleteAsync(handler, member.reads().points());
  }

  // ---- effects

  @Override
  public void confirmLeadership(long term) {
    then(
        member
            .replies()
            .<RaftCommand, ReadReply>ask(
                member.raft(),
                replyTo -> new RaftCommand.ConfirmLeadership(term, replyTo),
                proposer.requestTimeout()),
        (reply, failure) -> leadershipConfirmed(reply instanceof ReadReply.Ready));
  }

  private synchronized void leadershipConfirmed(boolean leads) {
    core.leadershipConfirmed(leads);
  }

  @Override
  public void queryMembers() {
    try {
      then(versions.ask(), this::replied);
    } catch (RefusedException replaced) {
      failed(replaced);
    }
  }

  private synchronized void replied(
      @Nullable SortedMap<NodeId, Optional<EtcdVersion>> servers, @Nullable Throwable failure) {
    if (servers == null) {
      failed(Objects.requireNonNull(failure));
      return;
    }
    try {
      core.replied(
          member.state().versions(),
          member.state().cluster().membership().members(),
          servers,
          System.nanoTime());
    } catch (RefusedException replaced) {
      failed(replaced);
    }
  }

  @Override
  public void propose(long term, List<Operation.Versions> operations) {
    operations.forEach(this::logProposal);
    then(
        CompletableFuture.allOf(
            operations.stream()
                .map(operation -> proposer.proposeInTerm(term, operation).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new)),
        (done, failure) -> ended(failure));
  }

  private synchronized void ended(@Nullable Throwable failure) {
    if (failure == null) {
      core.proposalsEnded();
    } else {
      failed(failure);
    }
  }

  /** The next round tries again; another leader has its own rounds. */
  private synchronized void failed(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof RefusedException refused && refused.reason() == Refusal.NOT_LEADER) {
      LOG.info("did not update cluster version, this member no longer leads");
    } else {
      LOG.warn("failed to update cluster version, retrying reason={}", String.valueOf(cause));
    }
    core.roundFailed();
  }

  @Override
  public void tooOld(String reason) {
    tooOld.accept(reason);
  }

  // ---- log

  private void logProposal(Operation.Versions operation) {
    if (operation instanceof Operation.SetClusterVersion change) {
      LOG.info(
          "{} local-member-id={} from={} to={}",
          change.from() == null
              ? "setting up initial cluster version using v3 API"
              : "updating cluster version using v3 API",
          member.status().memberId(),
          text(change.from()),
          change.to().shortText());
    } else if (operation instanceof Operation.CancelDowngrade end) {
      LOG.info("the cluster has been downgraded cluster-version={}", text(end.target()));
    }
  }

  /** Once for each change of the versions of members. */
  @Override
  public void downgradeWaits(
      ClusterVersions now, SortedMap<NodeId, Optional<EtcdVersion>> servers) {
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
