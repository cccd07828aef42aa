package io.troupe.grpc.service;

import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.model.MemberAttributes;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Section 2.11 as far as one member needs it. */
public final class ClusterService {
  private final Member member;
  private final ReadGate gate;
  private final Supplier<List<MemberInfo>> members;

  ClusterService(Member member, ReadGate gate, Supplier<List<MemberInfo>> members) {
    this.member = member;
    this.gate = gate;
    this.members = members;
  }

  /** M9, header without revision (R7). */
  public CompletionStage<MemberListResponse> list(MemberListRequest request) {
    return request.getLinearizable()
        ? gate.linearizable(true, this::list)
        : gate.serializable(this::list);
  }

  private MemberListResponse list() {
    MemberListResponse.Builder out =
        MemberListResponse.newBuilder()
            .setHeader(
                ResponseHeader.newBuilder()
                    .setClusterId(member.status().clusterId())
                    .setMemberId(member.status().memberId().value())
                    .setRaftTerm(member.status().term()));
    members.get().stream()
        .sorted((a, b) -> a.id().compareTo(b.id()))
        .forEach(info -> out.addMembers(member(info)));
    return out.build();
  }

  private io.troupe.grpc.api.Member.Builder member(MemberInfo info) {
    io.troupe.grpc.api.Member.Builder out =
        io.troupe.grpc.api.Member.newBuilder()
            .setID(info.id().value())
            .addAllPeerURLs(info.peerUrls())
            .setIsLearner(info.learner());
    MemberAttributes published = member.state().attributes(info.id());
    if (published != null) {
      out.setName(published.name()).addAllClientURLs(published.clientUrls());
    }
    return out;
  }
}
