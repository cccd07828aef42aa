package io.troupe.server;

import io.troupe.grpc.api.DowngradeRequest;
import io.troupe.grpc.api.DowngradeResponse;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.protocol.RefusedException;
import io.troupe.version.VersionRules;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Downgrade (MT11). The state checks an accepted request again when it is applied. */
final class Downgrades {
  private static final Logger LOG = LoggerFactory.getLogger(Downgrades.class);

  private final Member member;
  private final ReadIndexBatcher reads;
  private final Proposer proposer;

  Downgrades(Member member, ReadIndexBatcher reads, Proposer proposer) {
    this.member = member;
    this.reads = reads;
    this.proposer = proposer;
  }

  /**
   * Handles a request.
   *
   * @param who has the right to make it
   */
  CompletionStage<DowngradeResponse> handle(DowngradeRequest request, Requester who, Call call) {
    return switch (request.getAction()) {
      case VALIDATE -> validated(target(request), call).thenApply(this::response);
      case ENABLE -> {
        EtcdVersion target = target(request);
        yield validated(target, call)
            .thenCompose(
                valid -> proposer.propose(who, new Operation.EnableDowngrade(target), call))
            .thenApply(enabled -> response(member.state().versions()));
      }
      case CANCEL -> cancel(who, call);
      case UNRECOGNIZED ->
          throw new GrpcException(GrpcStatus.UNKNOWN, "etcdserver: unknown method");
    };
  }

  private static EtcdVersion target(DowngradeRequest request) {
    EtcdVersion target = VersionRules.downgradeTarget(request.getVersion());
    if (target == null) {
      throw new RefusedException(Refusal.WRONG_DOWNGRADE_FORMAT);
    }
    return target;
  }

  private CompletionStage<ClusterVersions> validated(EtcdVersion target, Call call) {
    requireDecided(member.state().versions());
    return reads.linearizable(
        call.trace(),
        ReadIndexBatcher.Kind.POINT,
        () -> {
          ClusterVersions now = member.state().versions();
          Refusal refusal = VersionRules.refuseDowngrade(now, target);
          if (refusal != null) {
            throw new RefusedException(refusal);
          }
          return now;
        });
  }

  /** As in etcd, a failure is only logged: the response is OK without a downgrade too. */
  private CompletionStage<DowngradeResponse> cancel(Requester who, Call call) {
    requireDecided(member.state().versions());
    return reads
        .linearizable(call.trace(), ReadIndexBatcher.Kind.POINT, () -> member.state().versions())
        .thenCompose(
            now -> {
              if (!now.isDowngrading()) {
                throw new RefusedException(Refusal.NO_DOWNGRADE);
              }
              return proposer.propose(
                  who, new Operation.CancelDowngrade(now.downgradeTarget()), call);
            })
        .handle(
            (canceled, failure) -> {
              if (failure != null) {
                LOG.warn("failed to cancel downgrade reason={}", failure.toString());
              }
              return response(member.state().versions());
            });
  }

  private static EtcdVersion requireDecided(ClusterVersions versions) {
    EtcdVersion cluster = versions.cluster();
    if (cluster == null) {
      throw new RefusedException(Refusal.CLUSTER_VERSION_UNKNOWN);
    }
    return cluster;
  }

  private DowngradeResponse response(ClusterVersions versions) {
    return DowngradeResponse.newBuilder()
        .setHeader(member.header())
        .setVersion(requireDecided(versions).shortText())
        .build();
  }
}
