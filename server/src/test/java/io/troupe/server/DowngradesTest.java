package io.troupe.server;

import static io.troupe.server.Outcomes.now;
import static io.troupe.server.Outcomes.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.grpc.api.DowngradeRequest;
import io.troupe.grpc.api.DowngradeRequest.DowngradeAction;
import io.troupe.grpc.api.DowngradeResponse;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.codec.OperationCodec;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Downgrade (MT11): checks, errors and their order. */
class DowngradesTest {
  private static final EtcdVersion V36 = new EtcdVersion(3, 6, 0);
  private static final EtcdVersion V37 = new EtcdVersion(3, 7, 0);
  private static final ClusterVersions DECIDED = new ClusterVersions(V37, V37, null);

  private final FakeMember fake = new FakeMember(true);
  private final Downgrades downgrades =
      new Downgrades(
          fake.member,
          new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick()),
          fake.proposer);

  @AfterEach
  void stop() {
    fake.close();
  }

  private CompletionStage<DowngradeResponse> call(DowngradeAction action, String version) {
    return downgrades.handle(
        DowngradeRequest.newBuilder().setAction(action).setVersion(version).build(),
        Requester.ANONYMOUS,
        FakeMember.call());
  }

  private void releaseRead() {
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Ready(100, 0));
  }

  private void applies(Operation operation, ProposeReply reply) {
    RaftCommand.Propose proposal = fake.raft.expectMessageClass(RaftCommand.Propose.class);
    assertThat(OperationCodec.decode(proposal.proposal().operation()).operation())
        .isEqualTo(operation);
    proposal.replyTo().tell(reply);
  }

  private static ProposeReply done() {
    return new ProposeReply.Applied(new Result.Done(1), 9);
  }

  private void refusedAtOnce(DowngradeAction action, String version, Refusal reason) {
    assertThatThrownBy(() -> call(action, version))
        .isInstanceOfSatisfying(
            RefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(reason));
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void validateReturnsClusterVersion_MT11() throws Exception {
    fake.versions(DECIDED);
    CompletionStage<DowngradeResponse> valid = call(DowngradeAction.VALIDATE, "3.6.5");
    releaseRead();
    DowngradeResponse response = now(valid);
    assertThat(response.getVersion()).isEqualTo("3.7");
    assertThat(response.getHeader().getClusterId()).isEqualTo(77);
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void wrongFormatIsRefusedFirst_MT11() {
    refusedAtOnce(DowngradeAction.VALIDATE, "3", Refusal.WRONG_DOWNGRADE_FORMAT);
    refusedAtOnce(DowngradeAction.ENABLE, "", Refusal.WRONG_DOWNGRADE_FORMAT);
  }

  @Test
  void undecidedClusterVersionIsRefused_MT11() {
    refusedAtOnce(DowngradeAction.VALIDATE, "3.6", Refusal.CLUSTER_VERSION_UNKNOWN);
    refusedAtOnce(DowngradeAction.ENABLE, "3.6", Refusal.CLUSTER_VERSION_UNKNOWN);
    refusedAtOnce(DowngradeAction.CANCEL, "", Refusal.CLUSTER_VERSION_UNKNOWN);
  }

  @Test
  void otherTargetIsRefusedAfterRead_MT11() {
    fake.versions(DECIDED);
    CompletionStage<DowngradeResponse> same = call(DowngradeAction.ENABLE, "3.7.0");
    releaseRead();
    refused(same, Refusal.INVALID_DOWNGRADE_TARGET);
  }

  @Test
  void secondDowngradeIsRefused_MT11() {
    fake.versions(new ClusterVersions(V37, V37, V36));
    CompletionStage<DowngradeResponse> again = call(DowngradeAction.ENABLE, "3.6.0");
    releaseRead();
    refused(again, Refusal.DOWNGRADE_IN_PROGRESS);
  }

  @Test
  void enableIsProposed_MT11() throws Exception {
    fake.versions(DECIDED);
    CompletionStage<DowngradeResponse> enabled = call(DowngradeAction.ENABLE, "3.6");
    releaseRead();
    applies(new Operation.EnableDowngrade(V36), done());
    assertThat(now(enabled).getVersion()).isEqualTo("3.7");
  }

  @Test
  void refusalOfTheStateReachesClient_MT11() {
    fake.versions(DECIDED);
    CompletionStage<DowngradeResponse> enabled = call(DowngradeAction.ENABLE, "3.6");
    releaseRead();
    applies(
        new Operation.EnableDowngrade(V36),
        new ProposeReply.Applied(new Result.Refused(Refusal.DOWNGRADE_IN_PROGRESS), 9));
    refused(enabled, Refusal.DOWNGRADE_IN_PROGRESS);
  }

  @Test
  void cancelIsProposed_MT11() throws Exception {
    fake.versions(new ClusterVersions(V36, V36, V36));
    CompletionStage<DowngradeResponse> canceled = call(DowngradeAction.CANCEL, "");
    releaseRead();
    applies(new Operation.CancelDowngrade(V36), done());
    assertThat(now(canceled).getVersion()).isEqualTo("3.6");
  }

  /** A quirk of etcd: the failure is only logged. */
  @Test
  void cancelWithoutDowngradeOrQuorumReturnsOk_MT11() throws Exception {
    fake.versions(DECIDED);
    CompletionStage<DowngradeResponse> nothing = call(DowngradeAction.CANCEL, "");
    releaseRead();
    assertThat(now(nothing).getVersion()).isEqualTo("3.7");
    fake.raft.expectNoMessage(Duration.ZERO);
    CompletionStage<DowngradeResponse> noQuorum = call(DowngradeAction.CANCEL, "");
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Failed(Refusal.TIMED_OUT));
    assertThat(now(noQuorum).getVersion()).isEqualTo("3.7");
  }

  @Test
  void unknownActionIsRefused_MT11() {
    DowngradeRequest unknown = DowngradeRequest.newBuilder().setActionValue(9).build();
    assertThatThrownBy(() -> downgrades.handle(unknown, Requester.ANONYMOUS, FakeMember.call()))
        .isInstanceOfSatisfying(
            GrpcException.class,
            failure ->
                assertThat(GrpcErrors.of(failure))
                    .isEqualTo(new GrpcStatus(GrpcStatus.UNKNOWN, "etcdserver: unknown method")));
  }
}
