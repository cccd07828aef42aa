package io.troupe.server;

import static io.troupe.server.FakeMember.id;
import static io.troupe.server.FakeMember.url;
import static io.troupe.server.FakeMember.view;
import static io.troupe.server.Outcomes.now;
import static io.troupe.server.Outcomes.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Renewals and remaining times of leases, on the leader and on other members: L6, L7. */
class LeaderLeaseClientTest {
  private final FakeMember fake = new FakeMember(true, FakeMember.SHORT_TIMEOUT);
  private final List<PeerQuery> asked = new CopyOnWriteArrayList<>();
  private final Deque<CompletionStage<PeerReply>> answers = new ArrayDeque<>();
  private final LeaderLeaseClient times =
      new LeaderLeaseClient(
          fake.member,
          fake.settings,
          new LeaderClient(
              fake.member,
              (url, query, timeout) -> {
                assertThat(url).isEqualTo(url(2));
                asked.add(query);
                return answers.size() > 1 ? answers.poll() : answers.peek();
              }));

  @BeforeEach
  void three() {
    fake.show(view(3, 0, 17));
  }

  @AfterEach
  void stop() {
    fake.close();
  }

  private void answer(PeerReply answer) {
    answers.add(CompletableFuture.completedFuture(answer));
  }

  private void here(LeaseReply reply) {
    fake.lease.expectMessageClass(LeaseCommand.KeepAlive.class).replyTo().tell(reply);
  }

  @Test
  void leaderAsksItsLeaseActor() throws Exception {
    CompletionStage<Long> renewed = times.renew(7);
    here(new LeaseReply.Renewed(7, 60));
    assertThat(now(renewed)).isEqualTo(60);
    assertThat(asked).isEmpty();
  }

  @Test
  void otherMembersAskLeader() throws Exception {
    fake.lead(id(2));
    answer(new PeerReply.Renewed(List.of(60L), 0));
    assertThat(now(times.renew(7))).isEqualTo(60);
    answers.clear();
    answer(new PeerReply.Remaining(41, 60));
    assertThat(now(times.timeToLive(7))).isEqualTo(new PeerReply.Remaining(41, 60));
    assertThat(asked)
        .containsExactly(
            new PeerQuery.RenewQuery(List.of(7L), 3, 0), new PeerQuery.TimeToLiveQuery(7));
    fake.lease.expectNoMessage(Duration.ZERO);
  }

  @Test
  void renewalWhoseOutcomeIsNotKnownIsRepeated_L5_L6() throws Exception {
    fake.lead(id(2));
    answer(new PeerReply.Renewed(List.of(PeerReply.Renewed.NOT_YET), 0));
    answer(new PeerReply.Renewed(List.of(PeerReply.Renewed.NOT_YET), 0));
    answer(new PeerReply.Renewed(List.of(0L), 0));
    assertThat(now(times.renew(7))).isZero();
    assertThat(asked).hasSize(3).containsOnly(new PeerQuery.RenewQuery(List.of(7L), 3, 0));
  }

  /** A lease that waits for its revoke must not hold up the renewals that share its query. */
  @Test
  void renewalWhoseOutcomeIsNotKnownDoesNotDelayOthers_L5_L6() throws Exception {
    Forwarding to = new Forwarding();
    to.forwarder.renew(6);
    CompletionStage<Long> expired = to.forwarder.renew(7);
    CompletionStage<Long> alive = to.forwarder.renew(8);
    to.reply(0, 60L);
    assertThat(to.queries.getLast().leases()).containsExactly(7L, 8L);
    to.reply(0, PeerReply.Renewed.NOT_YET, 60L);
    refused(expired, Refusal.TIMED_OUT);
    assertThat(now(alive)).isEqualTo(60);
  }

  /** A forwarder whose queries get replies from the test. */
  private static final class Forwarding {
    final Deque<CompletableFuture<PeerReply>> open = new ArrayDeque<>();
    final Deque<PeerQuery.RenewQuery> queries = new ArrayDeque<>();
    long term = 3;
    long nanos = 7;
    final RenewalForwarder forwarder =
        new RenewalForwarder(
            () -> term,
            () -> nanos,
            query -> {
              queries.add((PeerQuery.RenewQuery) query);
              open.add(new CompletableFuture<>());
              return open.getLast();
            });

    void reply(long number, Long... ttls) {
      open.remove().complete(new PeerReply.Renewed(List.of(ttls), number));
    }
  }

  @Test
  void secondQueryIsSentWhileFirstIsSlow_L6() {
    Forwarding to = new Forwarding();
    to.forwarder.renew(1);
    to.nanos += RenewalForwarder.SLOW_NANOS - 1;
    to.forwarder.renew(2);
    assertThat(to.queries).hasSize(1);
    to.nanos++;
    to.forwarder.renew(3);
    assertThat(to.queries.getLast().leases()).containsExactly(2L, 3L);
    to.nanos += RenewalForwarder.SLOW_NANOS;
    to.forwarder.renew(4);
    assertThat(to.queries).as("at most two").hasSize(2);
  }

  /** Decision 0275. */
  @Test
  void queriesShowNumberOfLastReplyInSameTerm_L5() {
    Forwarding to = new Forwarding();
    to.forwarder.renew(1);
    to.forwarder.renew(2);
    to.reply(5, 60L);
    to.forwarder.renew(3);
    to.reply(4, 60L);
    to.term = 4;
    to.forwarder.renew(4);
    to.reply(0, 60L);
    to.reply(1, 60L);
    to.forwarder.renew(5);
    assertThat(to.queries)
        .containsExactly(
            new PeerQuery.RenewQuery(List.of(1L), 3, 0),
            new PeerQuery.RenewQuery(List.of(2L), 3, 5),
            new PeerQuery.RenewQuery(List.of(3L), 3, 5),
            new PeerQuery.RenewQuery(List.of(4L), 4, 0),
            new PeerQuery.RenewQuery(List.of(5L), 4, 1));
  }

  /** After a refusal or a timeout, the next leader is asked. */
  @Test
  void repeatsQueryAfterLeaderChange() throws Exception {
    CompletionStage<Long> renewed = times.renew(7);
    answer(new PeerReply.Refused(Refusal.NO_LEADER));
    answers.add(CompletableFuture.failedFuture(new TimeoutException("no reply")));
    answer(new PeerReply.Renewed(List.of(60L), 0));
    fake.lead(id(2));
    here(new LeaseReply.Failed(Refusal.LEADER_CHANGED));
    assertThat(now(renewed)).isEqualTo(60);
    assertThat(asked).hasSize(3);
  }

  @Test
  void failsAfterRequestTimeoutWithoutLeader() {
    fake.lead(NodeId.NONE);
    refused(times.renew(7), Refusal.NO_LEADER);
    fake.lead(id(2));
    answers.add(CompletableFuture.failedFuture(new TimeoutException("no reply")));
    refused(times.renew(7), Refusal.TIMED_OUT);
  }

  @Test
  void manyRenewalsShareFewQueriesAndGetTheirOwnReplies() throws Exception {
    Forwarding to = new Forwarding();
    List<CompletionStage<Long>> renewals = new ArrayList<>();
    LongStream.range(0, 3000).forEach(lease -> renewals.add(to.forwarder.renew(lease)));
    assertThat(to.queries).hasSize(RenewalForwarder.QUERIES_AT_ONCE);
    int count = 0;
    while (!to.open.isEmpty()) {
      count++;
      to.reply(
          0, to.queries.remove().leases().stream().map(lease -> lease + 1).toArray(Long[]::new));
    }
    for (int i = 0; i < renewals.size(); i++) {
      assertThat(now(renewals.get(i))).isEqualTo(i + 1);
    }
    assertThat(count).isEqualTo(1 + 3);
    CompletionStage<Long> lost = to.forwarder.renew(1);
    to.reply(0);
    refused(lost, Refusal.TIMED_OUT);
  }

  /** Each would wait for a timeout of its own otherwise, one after the other. */
  @Test
  void renewalsThatWaitFailWithAQueryThatFails() throws Exception {
    Forwarding to = new Forwarding();
    List<CompletionStage<Long>> renewals = new ArrayList<>();
    LongStream.range(0, 1 + 2500).forEach(lease -> renewals.add(to.forwarder.renew(lease)));
    assertThat(to.queries.getLast().leases()).hasSize(RenewalForwarder.LEASES_PER_QUERY);
    to.open.remove().completeExceptionally(new TimeoutException("no reply"));
    for (int i = 0; i < renewals.size(); i++) {
      boolean isSent = i > 0 && i <= RenewalForwarder.LEASES_PER_QUERY;
      assertThat(renewals.get(i).toCompletableFuture().isCompletedExceptionally())
          .isEqualTo(!isSent);
    }
    to.nanos += RenewalForwarder.SLOW_NANOS;
    CompletionStage<Long> later = to.forwarder.renew(7);
    to.open.getLast().complete(new PeerReply.Renewed(List.of(60L), 0));
    assertThat(now(later)).isEqualTo(60);
  }
}
