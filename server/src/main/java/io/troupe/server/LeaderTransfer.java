package io.troupe.server;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.TransferReply;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;

/** MoveLeader (MT10). */
final class LeaderTransfer {
  private final Member member;
  private final GatewaySettings settings;

  LeaderTransfer(Member member, GatewaySettings settings) {
    this.member = member;
    this.settings = settings;
  }

  /**
   * Transfers leadership, and tries again as long as this member leads and the client waits.
   *
   * @return completes when this member sees {@code to} lead
   * @throws RefusedException NOT_LEADER if this member does not lead, BAD_LEADER_TRANSFEREE if the
   *     target is not a voter
   */
  CompletionStage<NodeId> moveTo(NodeId to, Duration limit) {
    NodeId self = member.status().memberId();
    if (!member.status().leader().equals(self)) {
      throw new RefusedException(Refusal.NOT_LEADER);
    }
    if (!member.state().cluster().membership().voters().contains(to)) {
      throw new RefusedException(Refusal.BAD_LEADER_TRANSFEREE);
    }
    return Retry.run(member, limit, LeaderTransfer::tookTooLong, tries -> attempt(tries, to));
  }

  /**
   * Before a clean shutdown: a leader transfers leadership to the best prepared voter.
   *
   * @return whether another member leads now; false also if this one did not lead, or no voter took
   *     the leadership in time
   */
  CompletionStage<Boolean> handOver(Duration atMost) {
    NodeId self = member.status().memberId();
    if (!member.status().leader().equals(self)) {
      return CompletableFuture.completedFuture(false);
    }
    long end = System.nanoTime() + atMost.toNanos();
    CompletionStage<TransferReply> asked =
        member.replies().ask(member.raft(), RaftCommand.HandOver::new, atMost);
    return asked
        .thenCompose(
            reply ->
                reply instanceof TransferReply.Done
                    // This member no longer leads; the ports stay open until another member does.
                    ? LeaderWait.known(member, Duration.ofNanos(end - System.nanoTime()))
                    : CompletableFuture.completedFuture(self))
        .thenApply(leader -> !leader.equals(self))
        .exceptionally(
            failure -> {
              Throwable cause =
                  failure instanceof CompletionException ? failure.getCause() : failure;
              if (cause instanceof TimeoutException) {
                return false;
              }
              throw new CompletionException(cause);
            });
  }

  private void attempt(Retry<NodeId> attempts, NodeId to) {
    NodeId leader = member.status().leader();
    if (leader.equals(to)) {
      attempts.succeed(to);
    } else if (leader.equals(member.status().memberId())) {
      transfer(attempts, to);
    } else {
      attempts.againAfter(settings.tick());
    }
  }

  private void transfer(Retry<NodeId> attempts, NodeId to) {
    CompletionStage<TransferReply> replied =
        member
            .replies()
            .ask(
                member.raft(),
                replyTo -> new RaftCommand.TransferLeadership(to, replyTo),
                attempts.timeLeft(settings.requestTimeout()));
    replied.whenComplete(
        (reply, failure) -> {
          if (failure != null && !(failure instanceof TimeoutException)) {
            attempts.fail(failure);
          } else if (reply instanceof TransferReply.Done) {
            attempts.succeed(to);
          } else if (reply instanceof TransferReply.Refused refused
              && refused.reason() == Refusal.BAD_LEADER_TRANSFEREE) {
            attempts.fail(new RefusedException(refused.reason()));
          } else {
            attempts.againAfter(settings.tick());
          }
        });
  }

  /** UNKNOWN, as etcd sends it. */
  private static GrpcException tookTooLong() {
    return new GrpcException(
        GrpcStatus.UNKNOWN, "etcdserver: request timed out, leader transfer took too long");
  }
}
