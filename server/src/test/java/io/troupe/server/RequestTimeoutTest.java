package io.troupe.server;

import static io.troupe.server.Outcomes.refused;

import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.AlarmType;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Writes whose reply does not arrive within the request timeout (P9, Q7). */
class RequestTimeoutTest {
  private static final Operation WRITE = new Operation.AlarmGet(AlarmType.NONE);

  private final FakeMember fake = new FakeMember(true, FakeMember.SHORT_TIMEOUT);

  @AfterEach
  void stop() {
    fake.close();
  }

  /** A write that has reached the raft actor. */
  private CompletionStage<Result> proposed() {
    CompletionStage<Result> written = fake.proposer.propose(WRITE);
    fake.raft.expectMessageClass(RaftCommand.Propose.class);
    return written;
  }

  @Test
  void writeWithoutLeaderExceedsDeadline_P9() {
    fake.lead(NodeId.NONE);
    CompletionStage<Result> written = fake.proposer.propose(WRITE);
    fake.raft
        .expectMessageClass(RaftCommand.Propose.class)
        .replyTo()
        .tell(new ProposeReply.NotProposed(Refusal.NO_LEADER));
    refused(written, new GrpcStatus(GrpcStatus.DEADLINE_EXCEEDED, "context deadline exceeded"));
  }

  @Test
  void writeTimesOutWithoutReplyOfLeader_P9() {
    CompletionStage<Result> written = proposed();
    refused(written, Refusal.TIMED_OUT);
  }

  @Test
  void writeLostWithLeaderReportsLeaderFailure_Q7() {
    CompletionStage<Result> written = fake.proposer.propose(WRITE);
    fake.lead(new NodeId(2));
    fake.raft.expectMessageClass(RaftCommand.Propose.class);
    refused(
        written,
        new GrpcStatus(
            GrpcStatus.UNAVAILABLE,
            "etcdserver: request timed out, possibly due to previous leader failure"));
    // A write that started under the new leader has another reason.
    refused(proposed(), Refusal.TIMED_OUT);
  }

  @Test
  void writeLostWithConnectionReportsLostConnection_Q7() {
    CompletionStage<Result> written = proposed();
    fake.reconnect();
    refused(
        written,
        new GrpcStatus(
            GrpcStatus.UNAVAILABLE,
            "etcdserver: request timed out, possibly due to connection lost"));
    refused(proposed(), Refusal.TIMED_OUT);
  }

  /** As in etcd, the leader's failure is checked first. */
  @Test
  void leaderFailurePrecedesLostConnection_Q7() {
    CompletionStage<Result> written = proposed();
    fake.reconnect();
    fake.lead(new NodeId(2));
    refused(
        written,
        new GrpcStatus(
            GrpcStatus.UNAVAILABLE,
            "etcdserver: request timed out, possibly due to previous leader failure"));
  }
}
