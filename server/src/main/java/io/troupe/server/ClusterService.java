package io.troupe.server;

import io.troupe.auth.Authorizer;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.MemberPromoteRequest;
import io.troupe.grpc.api.MemberPromoteResponse;
import io.troupe.grpc.api.MemberRemoveRequest;
import io.troupe.grpc.api.MemberRemoveResponse;
import io.troupe.grpc.api.MemberUpdateRequest;
import io.troupe.grpc.api.MemberUpdateResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.MemberIds;
import io.troupe.raft.membership.ConfChange;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Section 2.11. Headers have no revision (R7); members are in ascending order of IDs. */
public final class ClusterService {
  private final Member member;
  private final ReadIndexBatcher reads;
  private final MembershipChanges changes;
  private final Promotion promotion;
  private final InstantSource clock;
  private final CallerResolver callers;

  ClusterService(
      Member member,
      ReadIndexBatcher reads,
      MembershipChanges changes,
      Promotion promotion,
      InstantSource clock,
      CallerResolver callers) {
    this.callers = callers;
    this.member = member;
    this.reads = reads;
    this.changes = changes;
    this.promotion = promotion;
    this.clock = clock;
  }

  /** M1-M5. */
  public CompletionStage<MemberAddResponse> add(MemberAddRequest request, Call call) {
    List<String> urls = PeerUrls.checked(request.getPeerURLsList());
    NodeId id = MemberIds.added(urls, clock.instant().getEpochSecond());
    ConfChange.Kind kind =
        request.getIsLearner() ? ConfChange.Kind.ADD_LEARNER : ConfChange.Kind.ADD_VOTER;
    return callers
        .root(call)
        .thenCompose(who -> changes.add(new ConfChange(kind, id, urls), call.retryLimit()))
        .thenApply(
            view ->
                MemberAddResponse.newBuilder()
                    .setHeader(header())
                    .setMember(
                        io.troupe.grpc.api.Member.newBuilder()
                            .setID(id.value())
                            .addAllPeerURLs(urls)
                            .setIsLearner(request.getIsLearner()))
                    .addAllMembers(members(view))
                    .build());
  }

  /** M6. */
  public CompletionStage<MemberRemoveResponse> remove(MemberRemoveRequest request, Call call) {
    return callers
        .root(call)
        .thenCompose(who -> changes.remove(new NodeId(request.getID()), call.retryLimit()))
        .thenApply(
            view ->
                MemberRemoveResponse.newBuilder()
                    .setHeader(header())
                    .addAllMembers(members(view))
                    .build());
  }

  /** M7: the URLs are not validated. */
  public CompletionStage<MemberUpdateResponse> update(MemberUpdateRequest request, Call call) {
    List<String> urls = request.getPeerURLsList().stream().sorted().toList();
    ConfChange change = new ConfChange(ConfChange.Kind.UPDATE, new NodeId(request.getID()), urls);
    return callers
        .root(call)
        .thenCompose(who -> changes.update(change, call.retryLimit()))
        .thenApply(
            view ->
                MemberUpdateResponse.newBuilder()
                    .setHeader(header())
                    .addAllMembers(members(view))
                    .build());
  }

  /** M8. */
  public CompletionStage<MemberPromoteResponse> promote(MemberPromoteRequest request, Call call) {
    return callers
        .root(call)
        .thenCompose(who -> promotion.promote(new NodeId(request.getID()), call.retryLimit()))
        .thenApply(
            view ->
                MemberPromoteResponse.newBuilder()
                    .setHeader(header())
                    .addAllMembers(members(view))
                    .build());
  }

  /** M9. */
  public CompletionStage<MemberListResponse> list(MemberListRequest request, Call call) {
    return request.getLinearizable()
        ? reads.linearizable(
            call.trace(),
            ReadIndexBatcher.Kind.POINT,
            () -> callers.read(call, Authorizer::authenticated, this::list))
        : callers
            .checked(call, Authorizer::authenticated)
            .thenCompose(
                who -> reads.serializable(call.trace(), ReadIndexBatcher.Kind.POINT, this::list));
  }

  private MemberListResponse list() {
    return MemberListResponse.newBuilder()
        .setHeader(header())
        .addAllMembers(members(member.state().cluster()))
        .build();
  }

  private ResponseHeader header() {
    return ResponseHeader.newBuilder()
        .setClusterId(member.status().clusterId())
        .setMemberId(member.status().memberId().value())
        .setRaftTerm(member.status().term())
        .build();
  }

  private static List<io.troupe.grpc.api.Member> members(ClusterView view) {
    return view.membership().members().stream().map(id -> member(view, id)).toList();
  }

  private static io.troupe.grpc.api.Member member(ClusterView view, NodeId id) {
    io.troupe.grpc.api.Member.Builder out =
        io.troupe.grpc.api.Member.newBuilder()
            .setID(id.value())
            .addAllPeerURLs(view.peerUrls().getOrDefault(id, List.of()))
            .setIsLearner(view.isLearner(id));
    MemberAttributes published = view.published().get(id);
    if (published != null) {
      out.setName(published.name()).addAllClientURLs(published.clientUrls());
    }
    return out.build();
  }
}
