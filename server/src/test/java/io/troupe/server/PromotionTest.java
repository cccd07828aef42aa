package io.troupe.server;

import static io.troupe.server.FakeMember.id;
import static io.troupe.server.FakeMember.url;
import static io.troupe.server.FakeMember.view;
import static io.troupe.server.Outcomes.now;
import static io.troupe.server.Outcomes.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.raft.ReplicationStatus;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** MemberPromote (M8): member 2 leads, or this member where a test requires it. */
class PromotionTest {
  private static final String SUCCESSES = "etcd_server_learner_promote_successes";
  private static final String FAILURES = "etcd_server_learner_promote_failures";
  private static final Duration LONG = Duration.ofSeconds(20);

  private FakeMember fake = new FakeMember(true);
  private final List<PeerQuery> asked = new CopyOnWriteArrayList<>();
  private final Deque<PeerReply> answers = new ArrayDeque<>();

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
    return promote(4, null);
  }

  /**
   * Promotes through member 1.
   *
   * @param replication the reply of its raft actor; null if it does not lead
   */
  private CompletionStage<ClusterView> promote(
      int learner, @Nullable ReplicationStatus replication) {
    LeaderClient leader =
        new LeaderClient(
            fake.member,
            (url, query, timeout) -> {
              assertThat(url).isEqualTo(url(2));
              asked.add(query);
              PeerReply answer = answers.size() > 1 ? answers.poll() : answers.peek();
              return CompletableFuture.completedFuture(answer);
            });
    MembershipChanges changes =
        new MembershipChanges(
            fake.member,
            fake.settings,
            fake.proposer,
            new LocalRaftQueries(fake.member, fake.settings, leader));
    ReadIndexBatcher reads =
        new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick());
    CompletionStage<ClusterView> promoted =
        new Promotion(fake.member, fake.settings, reads, changes, leader)
            .promote(id(learner), LONG);
    fake.replyReplication(replication);
    return promoted;
  }

  @Test
  void followerRespondsAfterApplyingPromotion() throws Exception {
    answers.add(PeerReply.Done.INSTANCE);
    CompletionStage<ClusterView> promoted = promote();
    RaftCommand.ReadIndex read = fake.raft.expectMessageClass(RaftCommand.ReadIndex.class);
    fake.show(view(4, 0, 20));
    read.replyTo().tell(new ReadReply.Ready(20, 0));
    assertThat(now(promoted)).isEqualTo(view(4, 0, 20));
    assertThat(asked).containsExactly(new PeerQuery.PromoteQuery(id(4)));
    assertThat(shown()).as("the leader counts it").contains(SUCCESSES + " 0.0");
  }

  @Test
  void threeRefusalsOfTheLeaderAreFinal() {
    for (Refusal reason :
        List.of(Refusal.MEMBER_NOT_FOUND, Refusal.NOT_A_LEARNER, Refusal.LEARNER_NOT_READY)) {
      answers.clear();
      answers.add(new PeerReply.Refused(reason));
      refused(promote(), reason);
    }
    assertThat(shown()).noneMatch(line -> line.startsWith(FAILURES + "{"));
  }

  private List<String> shown() {
    return new String(fake.member.metrics().text(), StandardCharsets.UTF_8).lines().toList();
  }

  /** The reply of a leader's raft actor; the learner, member 4, has {@code match} of 100. */
  private static ReplicationStatus leading(long match) {
    ReplicationStatus.Peer voter =
        new ReplicationStatus.Peer(100, 100, ReplicationStatus.PeerState.REPLICATE);
    ReplicationStatus.Peer learner =
        new ReplicationStatus.Peer(match, 100, ReplicationStatus.PeerState.REPLICATE);
    return new ReplicationStatus(
        id(1), 100, new TreeMap<>(Map.of(id(2), voter, id(3), voter, id(4), learner)));
  }

  @Test
  void leaderCountsPromotionsAndRefusalsByReason() throws Exception {
    fake.lead(id(1));
    refused(promote(9, leading(100)), Refusal.MEMBER_NOT_FOUND);
    refused(promote(4, leading(10)), Refusal.LEARNER_NOT_READY);
    refused(promote(4, leading(10)), Refusal.LEARNER_NOT_READY);
    CompletionStage<ClusterView> promoted = promote(4, leading(100));
    RaftCommand.ProposeConfChange proposed =
        fake.raft.expectMessageClass(RaftCommand.ProposeConfChange.class);
    fake.show(view(4, 0, 20));
    proposed.replyTo().tell(new ProposeReply.Applied(new Result.Done(1), 20));
    assertThat(now(promoted)).isEqualTo(view(4, 0, 20));
    refused(promote(2, leading(100)), Refusal.NOT_A_LEARNER);
    assertThat(shown())
        .contains(
            SUCCESSES + " 1.0",
            FAILURES + "{Reason=\"membership: ID not found\"} 1.0",
            FAILURES
                + "{Reason=\"etcdserver: can only promote a learner member which is in sync with"
                + " leader\"} 2.0",
            FAILURES + "{Reason=\"membership: can only promote a learner member\"} 1.0");
    assertThat(asked).isEmpty();
  }

  @Test
  void retriesAfterOtherRefusals() throws Exception {
    answers.add(new PeerReply.Refused(Refusal.NOT_LEADER));
    answers.add(PeerReply.Done.INSTANCE);
    CompletionStage<ClusterView> promoted = promote();
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Ready(20, 0));
    now(promoted);
    assertThat(asked).hasSize(2);
  }

  @Test
  void retriesUntilRequestTimeout() {
    fake.close();
    fake = new FakeMember(true, FakeMember.SHORT_TIMEOUT);
    follow();
    answers.add(new PeerReply.Refused(Refusal.NOT_ENOUGH_STARTED_MEMBERS));
    refused(promote(), Refusal.TIMED_OUT);
    assertThat(asked).hasSizeGreaterThan(1);
  }
}
