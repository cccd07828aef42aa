package io.troupe.server;

import static io.troupe.server.FakeMember.SELF;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.ReplyBatch;
import io.troupe.server.RecordingTrace.Step;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The steps of writes and reads in traces. */
class CallStepsTest {
  private static final Operation WRITE = new Operation.LeaseGrant(1, 60);

  private final FakeMember fake = new FakeMember(true);
  private final RecordingTrace trace = new RecordingTrace();

  @AfterEach
  void stop() {
    fake.close();
  }

  private static <T> T now(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(5, TimeUnit.SECONDS);
  }

  private void write(ProposeReply reply) {
    CompletionStage<Result> written =
        fake.proposer.propose(Requester.MEMBER, WRITE, FakeMember.call(trace));
    fake.raft.expectMessageClass(RaftCommand.Propose.class).replyTo().tell(reply);
    assertThat(written).succeedsWithin(java.time.Duration.ofSeconds(5));
  }

  @Test
  void writeHasStepsOfActorsAndLocalDisk() {
    long t = System.nanoTime();
    fake.member.metrics().disk().walSynced(t + 15, t + 25, 2, 9);
    write(
        new ProposeReply.Applied(new Result.Done(1), 9, t + 10, t + 30, t + 40, ReplyBatch.ALONE));
    List<Step> steps = trace.steps();
    assertThat(steps)
        .extracting(Step::name)
        .containsExactly("queue", "propose", "fsync", "quorum", "apply", "answer");
    assertThat(steps.subList(1, 5))
        .containsExactly(
            new Step("propose", t + 10, t + 15),
            new Step("fsync", t + 15, t + 25),
            new Step("quorum", t + 10, t + 30),
            new Step("apply", t + 30, t + 40));
    assertThat(steps.get(0).endNanos()).isEqualTo(t + 10);
    assertThat(steps.get(5).startNanos()).isEqualTo(t + 40);
  }

  @Test
  void writeCommittedBeforeLocalSyncHasOtherSteps() {
    long t = System.nanoTime();
    write(
        new ProposeReply.Applied(new Result.Done(1), 9, t + 10, t + 30, t + 40, ReplyBatch.ALONE));
    assertThat(trace.steps())
        .extracting(Step::name)
        .containsExactly("queue", "quorum", "apply", "answer");
  }

  @Test
  void syncOfReplacedEntryIsIgnored() {
    long t = System.nanoTime();
    fake.member.metrics().disk().walSynced(t - 25, t - 15, 2, 9);
    write(
        new ProposeReply.Applied(new Result.Done(1), 9, t + 10, t + 30, t + 40, ReplyBatch.ALONE));
    assertThat(trace.steps()).extracting(Step::name).doesNotContain("propose", "fsync");
  }

  @Test
  void unmeasuredStepsAreOmitted() {
    write(new ProposeReply.Applied(new Result.Done(1), 9));
    assertThat(trace.steps()).isEmpty();
  }

  @Test
  void readHasStepsOfItsRound() throws Exception {
    ReadIndexBatcher reads =
        new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick());
    long before = System.nanoTime();
    CompletionStage<String> read =
        reads.linearizable(trace, ReadIndexBatcher.Kind.POINT, () -> "value");
    RaftCommand.ReadIndex round = fake.raft.expectMessageClass(RaftCommand.ReadIndex.class);
    long confirmed = System.nanoTime();
    round.replyTo().tell(new ReadReply.Ready(3, confirmed));
    assertThat(now(read)).isEqualTo("value");
    List<Step> steps = trace.steps();
    assertThat(steps)
        .extracting(Step::name)
        .containsExactly("queue", "read index", "apply wait", "read");
    assertThat(steps.get(0).startNanos()).isGreaterThanOrEqualTo(before);
    assertThat(steps.get(1).startNanos()).isEqualTo(steps.get(0).endNanos());
    assertThat(steps.get(1).endNanos()).isEqualTo(confirmed);
    assertThat(steps.get(2).startNanos()).isEqualTo(confirmed);
    assertThat(steps.get(3).startNanos()).isGreaterThanOrEqualTo(steps.get(2).endNanos());
  }

  @Test
  void waitForLeaderIsPartOfQueueStep() throws Exception {
    fake.lead(NodeId.NONE);
    ReadIndexBatcher reads =
        new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick());
    CompletionStage<String> read =
        reads.linearizable(trace, ReadIndexBatcher.Kind.POINT, () -> "value");
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Failed(Refusal.NO_LEADER));
    long refused = System.nanoTime();
    fake.lead(SELF);
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Ready(3, System.nanoTime()));
    assertThat(now(read)).isEqualTo("value");
    assertThat(trace.steps())
        .extracting(Step::name)
        .containsExactly("queue", "read index", "apply wait", "read");
    assertThat(trace.steps().get(0).endNanos()).isGreaterThan(refused);
  }
}
