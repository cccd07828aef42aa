package io.troupe.actors.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.member.ShownMetrics;
import io.troupe.lease.LeaseChange;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.codec.OperationCodec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class LeaseActorTest {
  private static final ActorTestKit KIT = ActorTestKit.create();

  private final TestProbe<RaftCommand> raft = KIT.createTestProbe();
  private final TestProbe<LeaseReply> client = KIT.createTestProbe();
  private final MemberMetrics metrics = new MemberMetrics();
  private final AtomicBoolean sole = new AtomicBoolean(true);
  private final ActorRef<LeaseCommand> actor =
      KIT.spawn(
          LeaseActor.create(
              raft.getRef(),
              new RequestIds(new NodeId(1), 1),
              new LeaseActor.Settings(Duration.ofMillis(1), Duration.ofSeconds(1), true),
              List.of(),
              sole::get,
              metrics.apply()));

  private static final long TERM = 4;

  @AfterAll
  static void stop() {
    KIT.shutdownTestKit();
  }

  private void leadAlone(Lease... leases) {
    actor.tell(new LeaseCommand.Promoted(List.of(leases), TERM));
    actor.tell(new LeaseCommand.StateCaughtUp(TERM));
  }

  private void granted(long id, long ttl) {
    actor.tell(new LeaseCommand.Changed(List.of(new LeaseChange.Granted(id, ttl))));
  }

  @Test
  void followerRenewsNothing_L6() {
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    client.expectMessage(new LeaseReply.Failed(Refusal.NO_LEADER));
  }

  @Test
  void renewalReturnsGrantedTimeOrZeroForUnknownLease_L5() {
    leadAlone(new Lease(7, 60, 0));
    granted(8, 90);
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    client.expectMessage(new LeaseReply.Renewed(7, 60));
    actor.tell(new LeaseCommand.KeepAlive(8, client.getRef()::tell));
    client.expectMessage(new LeaseReply.Renewed(8, 90));
    actor.tell(new LeaseCommand.KeepAlive(9, client.getRef()::tell));
    client.expectMessage(new LeaseReply.Renewed(9, 0));
    actor.tell(new LeaseCommand.TimeToLive(9, client.getRef()::tell));
    client.expectMessage(new LeaseReply.Remaining(9, -1, 0));
  }

  @Test
  void expiryProposesRevokeAndRenewalWaitsForIt_L4_L5() {
    leadAlone();
    granted(7, 1);
    RaftCommand.ProposeInTerm proposed = proposed();
    assertThat(proposed.proposal().isPriority()).as("Q6").isTrue();
    assertThat(proposed.term()).as("only the leader that counted may end it").isEqualTo(TERM);
    assertThat(operation(proposed)).isEqualTo(new Operation.LeaseRevoke(7));
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    client.expectNoMessage(Duration.ofMillis(100));
    actor.tell(new LeaseCommand.Changed(List.of(new LeaseChange.Revoked(7))));
    client.expectMessage(new LeaseReply.Renewed(7, 0));
  }

  private RaftCommand.ProposeInTerm proposed() {
    return raft.expectMessageClass(RaftCommand.ProposeInTerm.class, Duration.ofSeconds(20));
  }

  private static Operation operation(RaftCommand.ProposeInTerm proposed) {
    return OperationCodec.decode(proposed.proposal().operation()).operation();
  }

  /** A revoke that found no lease, as after a client's revoke, did not expire it. */
  @Test
  void leaseCountsAsExpiredWhenItsRevokeTookEffect() {
    leadAlone();
    granted(7, 1);
    proposed()
        .replyTo()
        .tell(new ProposeReply.Applied(new Result.Refused(Refusal.LEASE_NOT_FOUND), 9));
    granted(8, 1);
    RaftCommand.ProposeInTerm second = proposed();
    while (!operation(second).equals(new Operation.LeaseRevoke(8))) {
      second = proposed();
    }
    String expired = "etcd_debugging_server_lease_expired_total";
    assertThat(ShownMetrics.value(metrics, expired)).isZero();
    second.replyTo().tell(new ProposeReply.Applied(new Result.LeaseRevoke(5), 10));
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> ShownMetrics.value(metrics, expired) == 1);
  }

  @Test
  void demotionFailsWaitingCallers() {
    leadAlone();
    granted(7, 1);
    proposed();
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    actor.tell(LeaseCommand.Demoted.INSTANCE);
    client.expectMessage(new LeaseReply.Failed(Refusal.LEADER_CHANGED));
  }

  private void lead(long term) {
    actor.tell(new LeaseCommand.Promoted(List.of(new Lease(7, 60, 0), new Lease(8, 90, 0)), term));
  }

  private RaftCommand.ConfirmLeadership confirm() {
    return raft.expectMessageClass(RaftCommand.ConfirmLeadership.class);
  }

  /** Decision 0041: a leader that renews a lease must know that it still leads. */
  @Test
  void renewalGetsReplyWhenLeadershipIsConfirmed() {
    sole.set(false);
    lead(TERM);
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    RaftCommand.ConfirmLeadership round = confirm();
    assertThat(round.term()).isEqualTo(TERM);
    client.expectNoMessage(Duration.ofMillis(100));
    round.replyTo().tell(new ReadReply.Ready(9, 0));
    client.expectMessage(new LeaseReply.Renewed(7, 60));
  }

  @Test
  void renewalsDuringRoundShareNextRound() {
    sole.set(false);
    lead(TERM);
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    RaftCommand.ConfirmLeadership first = confirm();
    actor.tell(new LeaseCommand.KeepAlive(8, client.getRef()::tell));
    actor.tell(new LeaseCommand.KeepAlive(9, client.getRef()::tell));
    raft.expectNoMessage(Duration.ofMillis(50));
    first.replyTo().tell(new ReadReply.Ready(9, 0));
    client.expectMessage(new LeaseReply.Renewed(7, 60));
    RaftCommand.ConfirmLeadership second = confirm();
    client.expectNoMessage(Duration.ofMillis(50));
    second.replyTo().tell(new ReadReply.Ready(9, 0));
    client.expectMessage(new LeaseReply.Renewed(8, 90));
    client.expectMessage(new LeaseReply.Renewed(9, 0));
  }

  @Test
  void deposedLeaderRenewsNothing() {
    sole.set(false);
    lead(TERM);
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    confirm().replyTo().tell(new ReadReply.Failed(Refusal.LEADER_CHANGED));
    client.expectMessage(new LeaseReply.Failed(Refusal.LEADER_CHANGED));
  }

  /** The reply of a round that began in an older term must not renew in a newer one. */
  @Test
  void roundOfOlderTermRenewsNothing() {
    sole.set(false);
    lead(TERM);
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    RaftCommand.ConfirmLeadership old = confirm();
    actor.tell(LeaseCommand.Demoted.INSTANCE);
    client.expectMessage(new LeaseReply.Failed(Refusal.LEADER_CHANGED));
    lead(TERM + 2);
    actor.tell(new LeaseCommand.KeepAlive(8, client.getRef()::tell));
    raft.expectNoMessage(Duration.ofMillis(50));
    old.replyTo().tell(new ReadReply.Ready(9, 0));
    RaftCommand.ConfirmLeadership round = confirm();
    assertThat(round.term()).isEqualTo(TERM + 2);
    client.expectNoMessage(Duration.ofMillis(50));
    round.replyTo().tell(new ReadReply.Ready(20, 0));
    client.expectMessage(new LeaseReply.Renewed(8, 90));
  }

  /** Another member may have applied the grant, and acknowledged it, before this one. */
  @Test
  void remainingTimeIsReportedAfterLeaderAppliedEarlierCommits_L7() {
    sole.set(false);
    lead(TERM);
    actor.tell(new LeaseCommand.TimeToLive(5, client.getRef()::tell));
    RaftCommand.ConfirmLeadership round = confirm();
    client.expectNoMessage(Duration.ofMillis(50));
    granted(5, 600);
    round.replyTo().tell(new ReadReply.Ready(9, 0));
    LeaseReply.Remaining remaining = client.expectMessageClass(LeaseReply.Remaining.class);
    assertThat(remaining.grantedSeconds()).isEqualTo(600);
    assertThat(remaining.remainingSeconds()).isBetween(590L, 600L);
  }

  /**
   * The state may lack grants and renewals of an earlier leader. Until it has them, a sole voter
   * also needs a round.
   */
  @Test
  void noLeaseExpiresOrIsReportedUnknownBeforeStateCaughtUp_L4() {
    actor.tell(new LeaseCommand.Promoted(List.of(new Lease(7, 1, 0)), TERM));
    actor.tell(new LeaseCommand.StateCaughtUp(TERM - 1));
    actor.tell(new LeaseCommand.KeepAlive(9, client.getRef()::tell));
    RaftCommand.ConfirmLeadership round = confirm();
    actor.tell(new LeaseCommand.TimeToLive(9, client.getRef()::tell));
    client.expectNoMessage(Duration.ofMillis(50));
    raft.expectNoMessage(Duration.ofMillis(2500));
    granted(9, 60);
    actor.tell(new LeaseCommand.StateCaughtUp(TERM));
    round.replyTo().tell(new ReadReply.Ready(9, 0));
    client.expectMessage(new LeaseReply.Renewed(9, 60));
    confirm().replyTo().tell(new ReadReply.Ready(9, 0));
    LeaseReply.Remaining remaining = client.expectMessageClass(LeaseReply.Remaining.class);
    assertThat(remaining.grantedSeconds()).isEqualTo(60);
    assertThat(operation(proposed())).isEqualTo(new Operation.LeaseRevoke(7));
  }

  private static Operation checkpoint(long id, long seconds) {
    return new Operation.LeaseCheckpoint(
        List.of(new Operation.LeaseCheckpoint.Remaining(id, seconds)));
  }

  private static final ProposeReply DONE = new ProposeReply.Applied(new Result.Done(5), 9);

  @Test
  void remainingTimesOfLongLeasesAreProposedOneEntryAtATime_L12() {
    leadAlone(new Lease(7, 60, 0));
    RaftCommand.ProposeInTerm first = proposed();
    assertThat(first.term()).isEqualTo(TERM);
    assertThat(first.proposal().isPriority()).isFalse();
    Operation.LeaseCheckpoint checkpoint = (Operation.LeaseCheckpoint) operation(first);
    assertThat(checkpoint.leases()).hasSize(1);
    assertThat(checkpoint.leases().get(0).id()).isEqualTo(7);
    assertThat(checkpoint.leases().get(0).seconds()).isBetween(55L, 60L);
    raft.expectNoMessage(Duration.ofMillis(1800));
    first.replyTo().tell(DONE);
    assertThat(operation(proposed())).isInstanceOf(Operation.LeaseCheckpoint.class);
  }

  /** L4: a later leader would count from the remaining time before the renewal. */
  @Test
  void renewalGetsReplyWhenItsCheckpointIsDeleted_L12() {
    sole.set(false);
    leadAlone(new Lease(7, 600, 20), new Lease(8, 90, 0));
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    actor.tell(new LeaseCommand.KeepAlive(8, client.getRef()::tell));
    confirm().replyTo().tell(new ReadReply.Ready(9, 0));
    RaftCommand.ProposeInTerm forget = proposed();
    assertThat(operation(forget)).isEqualTo(checkpoint(7, 0));
    confirm().replyTo().tell(new ReadReply.Ready(9, 0));
    client.expectMessage(new LeaseReply.Renewed(8, 90));
    client.expectNoMessage(Duration.ofMillis(100));
    forget.replyTo().tell(DONE);
    client.expectMessage(new LeaseReply.Renewed(7, 600));
  }

  @Test
  void renewalIsRefusedWhenItsCheckpointStays_L12() {
    leadAlone(new Lease(7, 600, 20));
    for (int attempt = 0; attempt < 2; attempt++) {
      actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
      RaftCommand.ProposeInTerm forget = forgetting();
      forget.replyTo().tell(new ProposeReply.NotProposed(Refusal.TOO_MANY_REQUESTS));
      client.expectMessage(new LeaseReply.Failed(Refusal.LEADER_CHANGED));
    }
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    RaftCommand.ProposeInTerm forget = forgetting();
    actor.tell(LeaseCommand.Demoted.INSTANCE);
    forget.replyTo().tell(DONE);
    client.expectMessage(new LeaseReply.Failed(Refusal.LEADER_CHANGED));
  }

  /** The next checkpoint may be proposed in between. */
  private RaftCommand.ProposeInTerm forgetting() {
    RaftCommand.ProposeInTerm next = proposed();
    while (!operation(next).equals(checkpoint(7, 0))) {
      next = proposed();
    }
    return next;
  }

  @Test
  void renewalThatWaitsForItsCheckpointReturnsZeroWhenLeaseEnded_L5() {
    leadAlone(new Lease(7, 600, 20));
    actor.tell(new LeaseCommand.KeepAlive(7, client.getRef()::tell));
    RaftCommand.ProposeInTerm forget = forgetting();
    actor.tell(new LeaseCommand.Changed(List.of(new LeaseChange.Revoked(7))));
    forget.replyTo().tell(DONE);
    client.expectMessage(new LeaseReply.Renewed(7, 0));
  }
}
