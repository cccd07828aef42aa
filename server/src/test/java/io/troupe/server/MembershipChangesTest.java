package io.troupe.server;

import static io.troupe.server.FakeMember.SELF;
import static io.troupe.server.FakeMember.id;
import static io.troupe.server.FakeMember.url;
import static io.troupe.server.FakeMember.view;
import static io.troupe.server.Outcomes.now;
import static io.troupe.server.Outcomes.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.MembershipRules.Liveness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Checking and proposing, and repeating both. */
class MembershipChangesTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final ConfChange FOURTH =
      new ConfChange(ConfChange.Kind.ADD_VOTER, id(4), List.of(url(4)));
  private static final ProposeReply MOVED = new ProposeReply.NotProposed(Refusal.TOO_MANY_REQUESTS);
  private static final ProposeReply APPLIED = new ProposeReply.Applied(new Result.Done(1), 9);

  private final FakeMember fake = new FakeMember(true, FakeMember.SHORT_TIMEOUT);
  private final List<PeerQuery> asked = new ArrayList<>();
  private @Nullable PeerReply peerReply;

  @AfterEach
  void stop() {
    fake.close();
  }

  private MembershipChanges changes() {
    PeerQueries peers =
        (url, query, timeout) -> {
          asked.add(query);
          return peerReply == null
              ? CompletableFuture.failedFuture(new IllegalStateException("down"))
              : CompletableFuture.completedFuture(peerReply);
        };
    LeaderClient leader = new LeaderClient(fake.member, peers);
    return new MembershipChanges(
        fake.member,
        fake.settings,
        fake.proposer,
        new LocalRaftQueries(fake.member, fake.settings, leader));
  }

  /** The leader's view: members 2..members connected for that many ticks. */
  private void replication(int members, int ticks) {
    TreeMap<NodeId, ReplicationStatus.Peer> peers = new TreeMap<>();
    for (int i = 2; i <= members; i++) {
      peers.put(
          id(i), new ReplicationStatus.Peer(100, ticks, ReplicationStatus.PeerState.REPLICATE));
    }
    fake.replyReplication(new ReplicationStatus(SELF, 100, peers));
  }

  private void follower() {
    fake.replyReplication(null);
  }

  private RaftCommand.ProposeConfChange proposed() {
    return fake.raft.expectMessageClass(RaftCommand.ProposeConfChange.class);
  }

  @Test
  void changeCarriesCheckedMembershipVersion() throws Exception {
    fake.show(view(3, 0, 17));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    replication(3, 500);
    RaftCommand.ProposeConfChange propose = proposed();
    assertThat(propose.proposal().basis()).isEqualTo(17);
    assertThat(propose.proposal().changes()).containsExactly(FOURTH);
    fake.show(view(4, 0, 20));
    propose.replyTo().tell(APPLIED);
    assertThat(now(added)).isEqualTo(view(4, 0, 20));
  }

  @Test
  void changedMembershipIsCheckedAndProposedAgain() throws Exception {
    fake.show(view(3, 0, 17));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    replication(3, 500);
    fake.show(view(3, 0, 18));
    proposed().replyTo().tell(MOVED);
    replication(3, 500);
    RaftCommand.ProposeConfChange again = proposed();
    assertThat(again.proposal().basis()).isEqualTo(18);
    again.replyTo().tell(APPLIED);
    now(added);
  }

  @Test
  void changeForbiddenByNewMembershipIsRefused_M1() {
    fake.show(view(3, 0, 17));
    ConfChange other = new ConfChange(ConfChange.Kind.ADD_VOTER, id(99), List.of(url(4)));
    CompletionStage<ClusterView> added = changes().add(other, LONG);
    replication(3, 500);
    fake.show(view(4, 0, 18));
    proposed().replyTo().tell(MOVED);
    replication(4, 500);
    refused(added, Refusal.PEER_URL_EXISTS);
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void connectionAgeCountsFromConnectNotFromElection_M5() {
    fake.show(view(3, 0, 17));
    fake.connected(id(2), Duration.ofSeconds(6));
    fake.connected(id(3), Duration.ofSeconds(6));
    changes().add(FOURTH, LONG);
    // A new leader: the other members replied to its first messages.
    replication(3, 1);
    proposed();
  }

  @Test
  void waitsForRepliesToNewLeader_M5() {
    fake.show(view(3, 0, 17));
    fake.connected(id(2), Duration.ofSeconds(6));
    fake.connected(id(3), Duration.ofSeconds(6));
    changes().add(FOURTH, LONG);
    replication(3, 0);
    replication(3, 1);
    proposed();
  }

  @Test
  void connectedMemberWithoutRepliesIsUnhealthy_M5() {
    fake.show(view(3, 0, 17));
    fake.connected(id(2), Duration.ofSeconds(6));
    fake.connected(id(3), Duration.ofSeconds(6));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    for (int i = 0; i <= LocalRaftQueries.MAX_WAITS; i++) {
      replication(3, 0);
    }
    refused(added, Refusal.UNHEALTHY_CLUSTER);
  }

  @Test
  void newConnectionIsNotSteadyYet_M5() {
    fake.show(view(3, 0, 17));
    fake.connected(id(2), Duration.ofSeconds(6));
    fake.connected(id(3), Duration.ofSeconds(4));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    replication(3, 1);
    refused(added, Refusal.UNHEALTHY_CLUSTER);
  }

  @Test
  void refusalOfLeaderIsFinal() {
    fake.show(view(3, 0, 17));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    replication(3, 500);
    proposed().replyTo().tell(new ProposeReply.NotProposed(Refusal.MEMBER_ID_EXISTS));
    refused(added, Refusal.MEMBER_ID_EXISTS);
  }

  @Test
  void lostProposalThatWasAppliedSucceeds() throws Exception {
    fake.show(view(3, 0, 17));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    replication(3, 500);
    proposed();
    fake.show(view(4, 0, 20));
    assertThat(now(added)).isEqualTo(view(4, 0, 20));
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void lostProposalThatWasNotAppliedIsRepeated_M13() throws Exception {
    fake.show(view(3, 0, 17));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    replication(3, 500);
    NodeId first = proposed().proposal().changes().get(0).member();
    replication(3, 500);
    RaftCommand.ProposeConfChange again = proposed();
    assertThat(again.proposal().changes().get(0).member()).as("the same id").isEqualTo(first);
    again.replyTo().tell(APPLIED);
    now(added);
  }

  @Test
  void waitsForLeader_M13() throws Exception {
    CompletionStage<ClusterView> updated =
        changes().update(new ConfChange(ConfChange.Kind.UPDATE, SELF, List.of("x")), LONG);
    fake.lead(NodeId.NONE);
    proposed().replyTo().tell(new ProposeReply.NotProposed(Refusal.NO_LEADER));
    fake.raft.expectNoMessage(Duration.ofMillis(100));
    fake.lead(id(2));
    proposed().replyTo().tell(APPLIED);
    now(updated);
  }

  @Test
  void failsAtClientDeadline_M13() {
    CompletionStage<ClusterView> updated =
        changes()
            .update(
                new ConfChange(ConfChange.Kind.UPDATE, SELF, List.of("x")), Duration.ofMillis(50));
    refused(updated, new GrpcStatus(GrpcStatus.DEADLINE_EXCEEDED, "context deadline exceeded"));
  }

  @Test
  void connectionsMustBeSteady_M5() {
    fake.show(view(3, 0, 17));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    replication(3, 499);
    refused(added, Refusal.UNHEALTHY_CLUSTER);
  }

  @Test
  void followerAsksLeaderForConnections_M5() throws Exception {
    fake.show(view(3, 0, 17));
    fake.lead(id(2));
    Set<NodeId> all = Set.of(id(1), id(2), id(3));
    peerReply = new PeerReply.Connected(new Liveness(all, all));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    follower();
    proposed().replyTo().tell(APPLIED);
    now(added);
    assertThat(asked).containsExactly(PeerQuery.LivenessQuery.INSTANCE);
  }

  @Test
  void noMemberIsConnectedIfLeaderDoesNotReply_M5() {
    fake.show(view(3, 0, 17));
    fake.lead(id(2));
    CompletionStage<ClusterView> added = changes().add(FOURTH, LONG);
    follower();
    refused(added, Refusal.UNHEALTHY_CLUSTER);
  }

  @Test
  void memberWithoutStrictChecksSendsNoQuery() throws Exception {
    try (FakeMember lax = new FakeMember(false)) {
      lax.show(view(3, 0, 17));
      LeaderClient leader = new LeaderClient(lax.member, FakeMember.NO_PEERS);
      CompletionStage<ClusterView> removed =
          new MembershipChanges(
                  lax.member,
                  lax.settings,
                  lax.proposer,
                  new LocalRaftQueries(lax.member, lax.settings, leader))
              .remove(id(3), LONG);
      lax.raft.expectMessageClass(RaftCommand.ProposeConfChange.class).replyTo().tell(APPLIED);
      now(removed);
    }
  }

  @Test
  void onlyLeaderPromotes_M8() {
    fake.show(view(3, 1, 17));
    CompletionStage<ClusterView> promoted = changes().promote(id(4), LONG);
    follower();
    refused(promoted, Refusal.NOT_LEADER);
  }

  @Test
  void refusalsOfPromotion_M8() {
    fake.show(view(3, 1, 17));
    CompletionStage<ClusterView> unknown = changes().promote(id(9), LONG);
    replication(4, 500);
    refused(unknown, Refusal.MEMBER_NOT_FOUND);
    CompletionStage<ClusterView> late = changes().promote(id(4), LONG);
    fake.replyReplication(SELF, id(4), 89, 500);
    refused(late, Refusal.LEARNER_NOT_READY);
    CompletionStage<ClusterView> voter = changes().promote(id(2), LONG);
    replication(4, 500);
    refused(voter, Refusal.NOT_A_LEARNER);
    CompletionStage<ClusterView> self = changes().promote(SELF, LONG);
    replication(4, 500);
    refused(self, Refusal.NOT_A_LEARNER);
  }
}
