package io.troupe.grpc.service;

import static io.troupe.grpc.service.FakeMember.id;
import static io.troupe.grpc.service.FakeMember.url;
import static io.troupe.grpc.service.FakeMember.view;
import static io.troupe.grpc.service.Outcomes.now;
import static io.troupe.grpc.service.Outcomes.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Refusal;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.PeerAnswer;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.ReplicationReply;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** MemberPromote on a follower (M8): member 2 leads. */
class PromotionTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final FakeMember fake = new FakeMember(true);
  private final List<PeerQuery> asked = new CopyOnWriteArrayList<>();
  private final Deque<PeerAnswer> answers = new ArrayDeque<>();

  @BeforeEach
  void follow() {
    fake.show(view(3, 1, 17));
    fake.lead(id(2));
  }

  @AfterEach
  void stop() {
    fake.close();
  }

  private CompletionStage<ClusterView> promote() {
    LeaderCalls leader =
        new LeaderCalls(
            fake.member,
            (url, query, timeout) -> {
              assertThat(url).isEqualTo(url(2));
              asked.add(query);
              PeerAnswer answer = answers.size() > 1 ? answers.poll() : answers.peek();
              return CompletableFuture.completedFuture(answer);
            });
    MembershipChanges changes =
        new MembershipChanges(
            fake.member,
            fake.settings,
            fake.proposer,
            new LocalRaftFacts(fake.member, fake.settings, leader));
    ReadGate gate = new ReadGate(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick());
    CompletionStage<ClusterView> promoted =
        new Promotion(fake.member, fake.settings, gate, changes, leader).promote(id(4), LONG);
    fake.raft
        .expectMessageClass(RaftCommand.GetReplication.class)
        .replyTo()
        .tell(new ReplicationReply(null));
    return promoted;
  }

  @Test
  void aFollowerAnswersWhenItHasAppliedWhatTheLeaderDid() throws Exception {
    answers.add(PeerAnswer.Done.INSTANCE);
    CompletionStage<ClusterView> promoted = promote();
    RaftCommand.ReadIndex read = fake.raft.expectMessageClass(RaftCommand.ReadIndex.class);
    fake.show(view(4, 0, 20));
    read.replyTo().tell(new ReadReply.Ready(20, 0));
    assertThat(now(promoted)).isEqualTo(view(4, 0, 20));
    assertThat(asked).containsExactly(new PeerQuery.PromoteQuery(id(4)));
  }

  @Test
  void threeRefusalsOfTheLeaderAreFinal() {
    for (Refusal reason :
        List.of(Refusal.MEMBER_NOT_FOUND, Refusal.NOT_A_LEARNER, Refusal.LEARNER_NOT_READY)) {
      answers.clear();
      answers.add(new PeerAnswer.Refused(reason));
      refused(promote(), reason);
    }
  }

  @Test
  void afterAnyOtherItAsksAgain() throws Exception {
    answers.add(new PeerAnswer.Refused(Refusal.NOT_LEADER));
    answers.add(PeerAnswer.Done.INSTANCE);
    CompletionStage<ClusterView> promoted = promote();
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Ready(20, 0));
    now(promoted);
    assertThat(asked).hasSize(2);
  }

  @Test
  void untilTheRequestTimesOut() {
    answers.add(new PeerAnswer.Refused(Refusal.NOT_ENOUGH_STARTED_MEMBERS));
    refused(promote(), Refusal.TIMED_OUT);
    assertThat(asked).hasSizeGreaterThan(1);
  }
}
