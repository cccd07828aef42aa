package io.troupe.server;

import static io.troupe.server.FakeMember.SELF;
import static io.troupe.server.Outcomes.now;
import static io.troupe.server.Outcomes.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.AlarmType;
import io.troupe.model.DecodedOperation;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.codec.OperationCodec;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that wait for a leader (P9, Q8, G12). */
class WithoutLeaderTest {
  private static final Operation WRITE = new Operation.AlarmGet(AlarmType.NONE);

  private final FakeMember fake = new FakeMember(true);

  @AfterEach
  void stop() {
    fake.close();
  }

  private RequestId refuseProposal(Refusal reason) {
    RaftCommand.Propose propose = fake.raft.expectMessageClass(RaftCommand.Propose.class);
    propose.replyTo().tell(new ProposeReply.NotProposed(reason));
    return propose.proposal().id();
  }

  @Test
  void writeIsProposedWhenLeaderIsKnown_Q8() throws Exception {
    fake.lead(NodeId.NONE);
    CompletionStage<Result> written = fake.proposer.propose(WRITE);
    RequestId first = refuseProposal(Refusal.NO_LEADER);
    fake.raft.expectNoMessage(Duration.ofMillis(50));
    fake.lead(SELF);
    RaftCommand.Propose again = fake.raft.expectMessageClass(RaftCommand.Propose.class);
    assertThat(again.proposal().id())
        .as("a late refusal of the first proposal does not count for the second")
        .isNotEqualTo(first);
    DecodedOperation decoded = OperationCodec.decode(again.proposal().operation());
    assertThat(decoded.id()).isEqualTo(again.proposal().id());
    assertThat(decoded.operation()).isEqualTo(WRITE);
    again.replyTo().tell(new ProposeReply.Applied(new Result.Done(5), 9));
    assertThat(now(written)).isEqualTo(new Result.Done(5));
  }

  /** The pause is a tick, 10 ms here: about ten attempts in 100 ms, not thousands. */
  @Test
  void formerLeaderIsRetriedAfterPause() throws Exception {
    CompletionStage<Result> written = fake.proposer.propose(WRITE);
    long end = System.nanoTime() + Duration.ofMillis(100).toNanos();
    int tries = 0;
    while (System.nanoTime() < end) {
      refuseProposal(Refusal.NO_LEADER);
      tries++;
    }
    assertThat(tries).isBetween(1, 15);
    fake.raft
        .expectMessageClass(RaftCommand.Propose.class)
        .replyTo()
        .tell(new ProposeReply.Applied(new Result.Done(5), 9));
    assertThat(now(written)).isEqualTo(new Result.Done(5));
  }

  @Test
  void writeWithUnknownOutcomeFailsImmediatelyLikeTimeout_Q7() {
    CompletionStage<Result> written = fake.proposer.propose(WRITE);
    RaftCommand.Propose propose = fake.raft.expectMessageClass(RaftCommand.Propose.class);
    long repliedNanos = System.nanoTime();
    propose.replyTo().tell(ProposeReply.Unknown.INSTANCE);
    refused(written, Refusal.TIMED_OUT);
    assertThat(System.nanoTime() - repliedNanos).isLessThan(FakeMember.REQUEST_TIMEOUT.toNanos());
  }

  @Test
  void otherRefusalsOfWriteAreFinal() {
    CompletionStage<Result> written = fake.proposer.propose(WRITE);
    refuseProposal(Refusal.LEADER_CHANGED);
    refused(written, Refusal.LEADER_CHANGED);
  }

  @Test
  void readWaitsForLeader_G12() throws Exception {
    fake.lead(NodeId.NONE);
    ReadIndexBatcher reads =
        new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick());
    CompletionStage<String> read = reads.linearizable(ReadIndexBatcher.Kind.POINT, () -> "value");
    failRound(Refusal.NO_LEADER);
    fake.raft.expectNoMessage(Duration.ofMillis(50));
    fake.lead(SELF);
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Ready(3, 0));
    assertThat(now(read)).isEqualTo("value");
  }

  @Test
  void readWithoutLeaderTimesOutAndNextRoundStarts_G12() {
    fake.lead(NodeId.NONE);
    ReadIndexBatcher reads =
        new ReadIndexBatcher(fake.member, Duration.ofSeconds(3), fake.settings.tick());
    CompletionStage<String> read = reads.linearizable(ReadIndexBatcher.Kind.POINT, () -> "value");
    failRound(Refusal.NO_LEADER);
    CompletionStage<String> next = reads.linearizable(ReadIndexBatcher.Kind.POINT, () -> "value");
    refused(read, Refusal.TIMED_OUT);
    failRound(Refusal.LEADER_CHANGED);
    refused(next, Refusal.LEADER_CHANGED);
  }

  private void failRound(Refusal reason) {
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Failed(reason));
  }
}
