package io.troupe.server;

import static io.troupe.server.FakeMember.SELF;
import static io.troupe.server.FakeMember.id;
import static io.troupe.server.FakeMember.view;
import static io.troupe.server.Outcomes.now;
import static io.troupe.server.Outcomes.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.TransferReply;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** MT10, M12. */
class LeaderTransferTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final FakeMember fake = new FakeMember(true);
  private final LeaderTransfer transfer = new LeaderTransfer(fake.member, fake.settings);

  @BeforeEach
  void lead() {
    fake.show(view(3, 1, 17));
  }

  @AfterEach
  void stop() {
    fake.close();
  }

  private void refusedAtOnce(NodeId to, Refusal reason) {
    assertThatThrownBy(() -> transfer.moveTo(to, LONG))
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.reason()).isEqualTo(reason));
  }

  private void reply(Refusal reason) {
    fake.raft
        .expectMessageClass(RaftCommand.TransferLeadership.class)
        .replyTo()
        .tell(new TransferReply.Refused(reason));
  }

  @Test
  void onlyLeaderAcceptsTransfer() {
    fake.lead(id(2));
    refusedAtOnce(id(9), Refusal.NOT_LEADER);
    fake.lead(NodeId.NONE);
    refusedAtOnce(id(2), Refusal.NOT_LEADER);
  }

  @Test
  void targetMustBeVoter_M12() {
    refusedAtOnce(id(9), Refusal.BAD_LEADER_TRANSFEREE);
    refusedAtOnce(id(4), Refusal.BAD_LEADER_TRANSFEREE);
    refusedAtOnce(NodeId.NONE, Refusal.BAD_LEADER_TRANSFEREE);
  }

  @Test
  void transferToLeaderCompletesImmediately() throws Exception {
    assertThat(now(transfer.moveTo(SELF, LONG))).isEqualTo(SELF);
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void completesWhenTargetLeads() throws Exception {
    CompletionStage<NodeId> moved = transfer.moveTo(id(2), LONG);
    RaftCommand.TransferLeadership request =
        fake.raft.expectMessageClass(RaftCommand.TransferLeadership.class);
    assertThat(request.to()).isEqualTo(id(2));
    fake.lead(id(2));
    request.replyTo().tell(TransferReply.Done.INSTANCE);
    now(moved);
  }

  @Test
  void retriesWhenTargetDidNotTakeLeadership() throws Exception {
    CompletionStage<NodeId> moved = transfer.moveTo(id(2), LONG);
    reply(Refusal.TIMED_OUT);
    fake.raft
        .expectMessageClass(RaftCommand.TransferLeadership.class)
        .replyTo()
        .tell(TransferReply.Done.INSTANCE);
    now(moved);
  }

  @Test
  void waitsForTargetWhileOtherMemberLeads() throws Exception {
    CompletionStage<NodeId> moved = transfer.moveTo(id(2), LONG);
    fake.lead(id(3));
    reply(Refusal.LEADER_CHANGED);
    fake.raft.expectNoMessage(Duration.ofMillis(100));
    fake.lead(id(2));
    now(moved);
  }

  @Test
  void failsAtClientDeadline() {
    CompletionStage<NodeId> moved = transfer.moveTo(id(2), Duration.ofMillis(50));
    refused(
        moved,
        new GrpcStatus(
            GrpcStatus.UNKNOWN, "etcdserver: request timed out, leader transfer took too long"));
  }

  @Test
  void removedTargetIsRejected() {
    CompletionStage<NodeId> moved = transfer.moveTo(id(2), LONG);
    reply(Refusal.BAD_LEADER_TRANSFEREE);
    refused(moved, Refusal.BAD_LEADER_TRANSFEREE);
  }

  private RaftCommand.HandOver handOver() {
    return fake.raft.expectMessageClass(RaftCommand.HandOver.class);
  }

  /** The ports stay open until another member leads, so that clients lose as little as possible. */
  @Test
  void shutdownTransferCompletesWhenOtherMemberLeads_B5() throws Exception {
    CompletionStage<Boolean> done = transfer.handOver(LONG);
    RaftCommand.HandOver request = handOver();
    fake.lead(NodeId.NONE);
    request.replyTo().tell(TransferReply.Done.INSTANCE);
    assertThat(done.toCompletableFuture()).isNotDone();
    fake.lead(id(3));
    assertThat(now(done)).isTrue();
  }

  @Test
  void shutdownTransferEndsWithoutNewLeader_B5() throws Exception {
    CompletionStage<Boolean> silent = transfer.handOver(Duration.ofMillis(50));
    handOver();
    assertThat(now(silent)).isFalse();
    CompletionStage<Boolean> alone = transfer.handOver(LONG);
    handOver().replyTo().tell(new TransferReply.Refused(Refusal.BAD_LEADER_TRANSFEREE));
    assertThat(now(alone)).isFalse();
    CompletionStage<Boolean> unchanged = transfer.handOver(Duration.ofMillis(50));
    RaftCommand.HandOver request = handOver();
    fake.lead(NodeId.NONE);
    request.replyTo().tell(TransferReply.Done.INSTANCE);
    assertThat(now(unchanged)).isFalse();
    fake.lead(id(2));
    assertThat(now(transfer.handOver(LONG))).as("it does not lead").isFalse();
    fake.raft.expectNoMessage(Duration.ZERO);
  }
}
