package io.troupe.server;

import static io.troupe.server.FakeMember.SELF;
import static io.troupe.server.FakeMember.id;
import static io.troupe.server.FakeMember.url;
import static io.troupe.server.FakeMember.view;
import static io.troupe.server.Outcomes.now;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.PeerReply.KnownMember;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.raft.membership.MembershipRules.Liveness;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Replies to other members. */
class PeerQueryHandlerTest {
  private final FakeMember fake = new FakeMember(true, FakeMember.SHORT_TIMEOUT);
  private final PeerQueryHandler handler;

  PeerQueryHandlerTest() {
    LeaderClient leader = new LeaderClient(fake.member, FakeMember.NO_PEERS);
    LocalRaftQueries facts = new LocalRaftQueries(fake.member, fake.settings, leader);
    MembershipChanges changes =
        new MembershipChanges(fake.member, fake.settings, fake.proposer, facts);
    ReadIndexBatcher reads =
        new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick());
    this.handler =
        new PeerQueryHandler(
            fake.member,
            fake.settings,
            facts,
            new Promotion(fake.member, fake.settings, reads, changes, leader),
            new LeaderLeaseClient(fake.member, fake.settings, leader));
  }

  @AfterEach
  void stop() {
    fake.close();
  }

  private void replication(long match, int ticks) {
    fake.replyReplication(SELF, id(2), match, ticks);
  }

  private void follower() {
    fake.replyReplication(null);
  }

  @Test
  void membersAreThoseOfTheAppliedState_B2() throws Exception {
    ClusterView full = view(1, 1, 5);
    full.published().remove(id(2));
    fake.show(full);
    assertThat(now(handler.answer(id(2), PeerQuery.MembersQuery.INSTANCE)))
        .isEqualTo(
            new PeerReply.Members(
                77,
                List.of(
                    new KnownMember(SELF, "n1", List.of(url(1)), List.of("http://c1:1"), false),
                    new KnownMember(id(2), "", List.of(url(2)), List.of(), true))));
  }

  @Test
  void joinOfIncompatibleProgramIsRefused_V2() throws Exception {
    EtcdVersion cluster = new EtcdVersion(3, 7, 0);
    fake.versions(new ClusterVersions(cluster, cluster, null));
    PeerReply reply =
        now(handler.answer(id(2), new PeerQuery.JoinQuery(new EtcdVersion(3, 6, 16))));
    assertThat(reply)
        .isInstanceOfSatisfying(
            PeerReply.Refused.class,
            refused -> {
              assertThat(refused.reason()).isEqualTo(Refusal.INCOMPATIBLE_VERSION);
              assertThat(refused.text()).contains("serves 3.6.16, the cluster has version 3.7");
            });
    fake.show(view(2, 0, 5));
    assertThat(now(handler.answer(id(2), new PeerQuery.JoinQuery(new EtcdVersion(3, 8, 0)))))
        .isInstanceOfSatisfying(
            PeerReply.Members.class,
            members -> assertThat(members.versions().cluster()).isEqualTo(cluster));
  }

  @Test
  void serverVersionIsReturned_V1() throws Exception {
    assertThat(now(handler.answer(id(2), PeerQuery.VersionQuery.INSTANCE)))
        .isEqualTo(new PeerReply.Version(new EtcdVersion(3, 7, 1)));
  }

  @Test
  void onlyLeaderKnowsConnectedMembers_M5() throws Exception {
    CompletionStage<PeerReply> refused = handler.answer(id(2), PeerQuery.LivenessQuery.INSTANCE);
    follower();
    assertThat(now(refused)).isEqualTo(new PeerReply.Refused(Refusal.NOT_LEADER));
    CompletionStage<PeerReply> reply = handler.answer(id(2), PeerQuery.LivenessQuery.INSTANCE);
    replication(100, 3);
    replication(100, 3);
    assertThat(now(reply))
        .isEqualTo(new PeerReply.Connected(new Liveness(Set.of(SELF, id(2)), Set.of(SELF))));
  }

  @Test
  void memberWithoutMembershipRefuses_B2() throws Exception {
    fake.show(view(0, 0, 0));
    assertThat(now(handler.answer(id(2), PeerQuery.MembersQuery.INSTANCE)))
        .isEqualTo(new PeerReply.Refused(Refusal.NO_LEADER));
  }

  @Test
  void leasesAreRenewedInOrderOfQuery_L6() throws Exception {
    List<Long> ttls = List.of(60L, 0L, PeerReply.Renewed.NOT_YET);
    CompletionStage<PeerReply> renewed =
        handler.answer(id(2), new PeerQuery.RenewQuery(List.of(7L, 8L, 9L), 3, 0));
    LeaseCommand.KeepAliveAll all = fake.lease.expectMessageClass(LeaseCommand.KeepAliveAll.class);
    assertThat(all.from()).isEqualTo(id(2));
    assertThat(all.query()).isEqualTo(new PeerQuery.RenewQuery(List.of(7L, 8L, 9L), 3, 0));
    all.replyTo().tell(new LeaseReply.RenewedAll(new PeerReply.Renewed(ttls, 5)));
    assertThat(now(renewed)).isEqualTo(new PeerReply.Renewed(ttls, 5));
    CompletionStage<PeerReply> elsewhere = renewOne(3);
    reply(new LeaseReply.Failed(Refusal.NO_LEADER));
    assertThat(now(elsewhere)).isEqualTo(new PeerReply.Refused(Refusal.NO_LEADER));
  }

  /** It would pass the marker on to its client. */
  @Test
  void memberOfOlderVersionRepeatsQueryWhoseOutcomeIsNotKnown_L6() throws Exception {
    CompletionStage<PeerReply> early = renewOne(0);
    reply(renewedAll(PeerReply.Renewed.NOT_YET));
    assertThat(now(early)).isEqualTo(new PeerReply.Refused(Refusal.TIMED_OUT));
    CompletionStage<PeerReply> known = renewOne(0);
    reply(renewedAll(60));
    assertThat(now(known)).isEqualTo(new PeerReply.Renewed(List.of(60L), 0));
  }

  private static LeaseReply renewedAll(long ttlSeconds) {
    return new LeaseReply.RenewedAll(new PeerReply.Renewed(List.of(ttlSeconds), 0));
  }

  private CompletionStage<PeerReply> renewOne(long term) {
    return handler.answer(id(2), new PeerQuery.RenewQuery(List.of(7L), term, 0));
  }

  private void reply(LeaseReply reply) {
    fake.lease.expectMessageClass(LeaseCommand.KeepAliveAll.class).replyTo().tell(reply);
  }

  @Test
  void remainingTimeOfLeaseIsReturned_L7() throws Exception {
    CompletionStage<PeerReply> reply = handler.answer(id(2), new PeerQuery.TimeToLiveQuery(7));
    fake.lease
        .expectMessageClass(LeaseCommand.TimeToLive.class)
        .replyTo()
        .tell(new LeaseReply.Remaining(7, 41, 60));
    assertThat(now(reply)).isEqualTo(new PeerReply.Remaining(41, 60));
  }

  @Test
  void caughtUpLearnerIsPromoted_M8() throws Exception {
    fake.show(view(1, 1, 5));
    CompletionStage<PeerReply> promoted = handler.answer(id(2), new PeerQuery.PromoteQuery(id(2)));
    replication(90, 500);
    fake.raft
        .expectMessageClass(RaftCommand.ProposeConfChange.class)
        .replyTo()
        .tell(new ProposeReply.Applied(new Result.Done(1), 7));
    assertThat(now(promoted)).isEqualTo(PeerReply.Done.INSTANCE);
  }

  @Test
  void refusalsOfPromotionAreReturned_M8() throws Exception {
    fake.show(view(1, 1, 5));
    CompletionStage<PeerReply> late = handler.answer(id(2), new PeerQuery.PromoteQuery(id(2)));
    replication(89, 500);
    assertThat(now(late)).isEqualTo(new PeerReply.Refused(Refusal.LEARNER_NOT_READY));
    CompletionStage<PeerReply> elsewhere = handler.answer(id(2), new PeerQuery.PromoteQuery(id(2)));
    follower();
    assertThat(now(elsewhere)).isEqualTo(new PeerReply.Refused(Refusal.NOT_LEADER));
  }

  /** The request timeout expires here; the follower repeats the query. */
  @Test
  void slowPromotionTimesOut_M8() throws Exception {
    fake.show(view(1, 1, 5));
    CompletionStage<PeerReply> lost = handler.answer(id(2), new PeerQuery.PromoteQuery(id(2)));
    replication(90, 500);
    fake.raft.expectMessageClass(RaftCommand.ProposeConfChange.class);
    assertThat(now(lost)).isEqualTo(new PeerReply.Refused(Refusal.TIMED_OUT));
  }
}
