package io.troupe.server;

import io.troupe.auth.Authorizer;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.LeaseKeepAliveRequest;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseLeasesResponse;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.LeaseRevokeResponse;
import io.troupe.grpc.api.LeaseStatus;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import io.troupe.grpc.api.LeaseTimeToLiveResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.lease.LeaseRules;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.ReplyTo;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Section 2.10. */
public final class LeaseService {
  private final Member member;
  private final GatewaySettings settings;
  private final Proposer proposer;
  private final Quota quota;
  private final LeaderLeaseClient times;
  private final ReadIndexBatcher reads;
  private final CallerResolver callers;

  LeaseService(
      Member member,
      GatewaySettings settings,
      Proposer proposer,
      Quota quota,
      LeaderLeaseClient times,
      ReadIndexBatcher reads,
      CallerResolver callers) {
    this.callers = callers;
    this.times = times;
    this.reads = reads;
    this.member = member;
    this.settings = settings;
    this.proposer = proposer;
    this.quota = quota;
  }

  /** L1, L2. */
  public CompletionStage<LeaseGrantResponse> grant(LeaseGrantRequest request, Call call) {
    long id = request.getID() == 0 ? proposer.nextLease() : request.getID();
    long ttl = LeaseRules.effectiveTtlSeconds(request.getTTL(), settings.minLeaseTtlSeconds());
    Operation.LeaseGrant grant = new Operation.LeaseGrant(id, ttl);
    quota.admit(grant);
    return callers
        .writer(call)
        .thenCompose(who -> proposer.propose(who, grant, call))
        .thenApply(
            result -> {
              Result.LeaseGrant granted = (Result.LeaseGrant) result;
              return LeaseGrantResponse.newBuilder()
                  .setHeader(member.header(granted.revision()))
                  .setID(granted.id())
                  .setTTL(granted.ttlSeconds())
                  .build();
            });
  }

  /** L9. */
  public CompletionStage<LeaseRevokeResponse> revoke(LeaseRevokeRequest request, Call call) {
    return callers
        .writer(call)
        .thenCompose(who -> proposer.propose(who, new Operation.LeaseRevoke(request.getID()), call))
        .thenApply(
            result ->
                LeaseRevokeResponse.newBuilder()
                    .setHeader(member.header(((Result.LeaseRevoke) result).revision()))
                    .build());
  }

  /** L5, L6; the header is created before the renewal (R7). */
  public CompletionStage<LeaseKeepAliveResponse> keepAlive(
      LeaseKeepAliveRequest request, Call call) {
    ResponseHeader header = member.header();
    return callers
        .checked(call, (authorizer, who) -> authorizer.writeAttached(who, request.getID()))
        .thenCompose(who -> times.renew(request.getID()))
        .thenApply(
            ttl -> {
              if (ttl > 0) {
                member.metrics().rpc().leaseRenewed();
              }
              return LeaseKeepAliveResponse.newBuilder()
                  .setHeader(header)
                  .setID(request.getID())
                  .setTTL(ttl)
                  .build();
            });
  }

  /** L7. */
  public CompletionStage<LeaseTimeToLiveResponse> timeToLive(
      LeaseTimeToLiveRequest request, Call call) {
    boolean leads = member.status().leader().equals(member.status().memberId());
    ReadIndexBatcher.Kind kind =
        request.getKeys() ? ReadIndexBatcher.Kind.RANGE : ReadIndexBatcher.Kind.POINT;
    return callers
        .checked(call, Authorizer::authenticated)
        .thenCompose(who -> times.timeToLive(request.getID()))
        .thenCompose(
            remaining ->
                leads || !request.getKeys()
                    ? reads.serializable(
                        call.trace(), kind, () -> timeToLiveResponse(request, remaining, call))
                    // Only the leader's state is authoritative, and this member may lag.
                    : reads.linearizable(
                        call.trace(), kind, () -> timeToLiveResponse(request, remaining, call)));
  }

  private LeaseTimeToLiveResponse timeToLiveResponse(
      LeaseTimeToLiveRequest request, PeerReply.Remaining remaining, Call call) {
    return request.getKeys()
        ? callers.read(
            call,
            (authorizer, who) -> authorizer.readAttached(who, request.getID()),
            () -> timeToLiveResponse(request, remaining, call.memory()))
        : timeToLiveResponse(request, remaining, call.memory());
  }

  private LeaseTimeToLiveResponse timeToLiveResponse(
      LeaseTimeToLiveRequest request, PeerReply.Remaining remaining, MemoryBudget.Share memory) {
    LeaseTimeToLiveResponse.Builder out =
        LeaseTimeToLiveResponse.newBuilder()
            .setHeader(member.header())
            .setID(request.getID())
            .setTTL(remaining.remainingSeconds())
            .setGrantedTTL(remaining.grantedSeconds());
    if (request.getKeys()) {
      member
          .state()
          .leaseKeys(request.getID(), memory)
          .forEach(key -> out.addKeys(ApiConverter.bytes(key)));
    }
    return out.build();
  }

  /** L8; a caller that may not see the keys of some lease sees no lease (L14). */
  public CompletionStage<LeaseLeasesResponse> leases(Call call) {
    return callers
        .checked(call, Authorizer::authenticated)
        .thenCompose(who -> ask(LeaseCommand.ListLeases::new).thenApply(reply -> seen(who, reply)))
        .thenApply(
            reply -> {
              LeaseLeasesResponse.Builder out =
                  LeaseLeasesResponse.newBuilder().setHeader(member.header());
              for (long id : ((LeaseReply.Leases) reply).ids()) {
                out.addLeases(LeaseStatus.newBuilder().setID(id));
              }
              return out.build();
            });
  }

  private LeaseReply seen(Requester who, LeaseReply reply) {
    for (long lease : ((LeaseReply.Leases) reply).ids()) {
      callers.require(who, (authorizer, user) -> authorizer.readAttached(user, lease));
    }
    return reply;
  }

  private CompletionStage<LeaseReply> ask(Function<ReplyTo<LeaseReply>, LeaseCommand> message) {
    CompletionStage<LeaseReply> reply =
        member.replies().ask(member.lease(), message, settings.requestTimeout());
    return reply.thenApply(
        received -> {
          if (received instanceof LeaseReply.Failed failed) {
            throw new RefusedException(failed.reason());
          }
          return received;
        });
  }
}
