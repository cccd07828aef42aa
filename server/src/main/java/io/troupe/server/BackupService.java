package io.troupe.server;

import io.troupe.grpc.api.backup.BackupResponse;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.concurrent.CompletionStage;

/** Backups on request. Not part of etcd's API (decision 0240). */
public final class BackupService {
  private final Member member;
  private final CallerResolver callers;
  private final BackupRequests requests;

  BackupService(Member member, CallerResolver callers, BackupRequests requests) {
    this.member = member;
    this.callers = callers;
    this.requests = requests;
  }

  /**
   * Writes a backup, for root, if this member leads. It continues when the caller goes away.
   *
   * @return fails with FAILED_PRECONDITION and the leader's name if another member leads
   */
  public CompletionStage<BackupResponse> write(Call call) {
    return callers
        .root(call)
        .thenCompose(
            who -> {
              requireLeader();
              return requests.write();
            })
        .thenApply(this::response);
  }

  private void requireLeader() {
    NodeId leader = member.status().leader();
    if (leader.isNone()) {
      throw new RefusedException(Refusal.NO_LEADER);
    }
    if (!leader.equals(member.status().memberId())) {
      MemberAttributes known = member.state().cluster().published().get(leader);
      String place =
          known == null
              ? leader.toString()
              : known.name() + " (" + leader + ") at " + String.join(", ", known.clientUrls());
      throw new GrpcException(
          GrpcStatus.FAILED_PRECONDITION, "the leader writes the backups: ask member " + place);
    }
  }

  private BackupResponse response(WrittenBackup written) {
    return BackupResponse.newBuilder()
        .setHeader(member.header())
        .setId(written.id())
        .setTime(written.time().toEpochMilli())
        .setRevision(written.revision())
        .setIndex(written.index())
        .setBytes(written.bytes())
        .setTarget(written.target())
        .build();
  }
}
