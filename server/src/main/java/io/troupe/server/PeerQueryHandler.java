package io.troupe.server;

import io.troupe.grpc.error.GrpcException;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.PeerResponder;
import io.troupe.protocol.RaftQueries;
import io.troupe.protocol.RefusedException;
import io.troupe.raft.ReplicationStatus;
import io.troupe.version.VersionRules;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replies to the queries of other members (B2, B3, M5, M8, L6, L7, Q5, V1). */
public final class PeerQueryHandler implements PeerResponder {
  private static final Logger LOG = LoggerFactory.getLogger(PeerQueryHandler.class);

  private static final PeerReply NOT_LEADER = new PeerReply.Refused(Refusal.NOT_LEADER);

  /** The reply of a member that joined and does not know the other members yet. */
  private static final PeerReply NO_MEMBERS_YET = new PeerReply.Refused(Refusal.NO_LEADER);

  private final Member member;
  private final GatewaySettings settings;
  private final RaftQueries raftQueries;
  private final Promotion promotion;
  private final LeaderLeaseClient times;

  PeerQueryHandler(
      Member member,
      GatewaySettings settings,
      RaftQueries raftQueries,
      Promotion promotion,
      LeaderLeaseClient times) {
    this.times = times;
    this.member = member;
    this.settings = settings;
    this.raftQueries = raftQueries;
    this.promotion = promotion;
  }

  @Override
  public CompletionStage<PeerReply> answer(NodeId from, PeerQuery query) {
    if (query instanceof PeerQuery.PromoteQuery promote) {
      return promotion
          .here(promote.member(), settings.requestTimeout())
          .<PeerReply>thenApply(done -> PeerReply.Done.INSTANCE)
          .exceptionally(PeerQueryHandler::refused);
    }
    if (query instanceof PeerQuery.LivenessQuery) {
      return raftQueries.replication().thenCompose(this::connected);
    }
    if (query instanceof PeerQuery.RenewQuery renew) {
      return times
          .renewAllHere(from, renew)
          .thenApply(outcomes -> renewed(renew, outcomes))
          .exceptionally(PeerQueryHandler::refused);
    }
    if (query instanceof PeerQuery.TimeToLiveQuery timeToLive) {
      return times
          .timeToLiveHere(timeToLive.lease())
          .<PeerReply>thenApply(remaining -> remaining)
          .exceptionally(PeerQueryHandler::refused);
    }
    if (query instanceof PeerQuery.HashQuery hash) {
      return CompletableFuture.<PeerReply>supplyAsync(() -> hashed(hash), member.reads().hashes())
          .exceptionally(PeerQueryHandler::refused);
    }
    if (query instanceof PeerQuery.VersionQuery) {
      return CompletableFuture.completedFuture(new PeerReply.Version(member.serverVersion()));
    }
    return CompletableFuture.completedFuture(
        query instanceof PeerQuery.JoinQuery join ? join(join) : members());
  }

  /** The joining member checks the same: both sides decide (V2). */
  private PeerReply join(PeerQuery.JoinQuery join) {
    String refusal = VersionRules.refuseJoin(join.server(), member.state().versions());
    if (refusal == null) {
      return members();
    }
    LOG.warn("refused a member that wants to join: {}", refusal);
    return new PeerReply.Refused(Refusal.INCOMPATIBLE_VERSION, refusal);
  }

  private PeerReply hashed(PeerQuery.HashQuery query) {
    return new PeerReply.Hashed(
        query.computed()
            ? member.state().computeHashKv(query.revision())
            : member.state().hashKv(query.revision()));
  }

  /** A member of an older version repeats the whole query. */
  private static PeerReply renewed(PeerQuery.RenewQuery renew, PeerReply.Renewed outcomes) {
    return renew.term() == 0 && outcomes.ttlSeconds().contains(PeerReply.Renewed.NOT_YET)
        ? new PeerReply.Refused(Refusal.TIMED_OUT)
        : outcomes;
  }

  private CompletionStage<PeerReply> connected(@Nullable ReplicationStatus status) {
    return status == null
        ? CompletableFuture.completedFuture(NOT_LEADER)
        : raftQueries.liveness().thenApply(PeerReply.Connected::new);
  }

  private PeerReply members() {
    ClusterView view = member.state().cluster();
    if (view.membership().members().isEmpty()) {
      return NO_MEMBERS_YET;
    }
    List<PeerReply.KnownMember> members =
        view.membership().members().stream().map(id -> known(view, id)).toList();
    return new PeerReply.Members(member.status().clusterId(), members, member.state().versions());
  }

  private static PeerReply.KnownMember known(ClusterView view, NodeId id) {
    MemberAttributes published = view.published().get(id);
    return new PeerReply.KnownMember(
        id,
        published == null ? "" : published.name(),
        view.peerUrls().getOrDefault(id, List.of()),
        published == null ? List.of() : published.clientUrls(),
        view.isLearner(id));
  }

  /** The requester distinguishes only final refusals; it repeats the query after any other. */
  private static PeerReply refused(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof RefusedException refusal) {
      return new PeerReply.Refused(refusal.reason());
    }
    if (cause instanceof GrpcException) {
      return new PeerReply.Refused(Refusal.TIMED_OUT);
    }
    throw new CompletionException(cause);
  }
}
