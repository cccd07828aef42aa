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
    answer(new PeerReply.Renewed(List.of(60L)));
    assertThat(now(times.renew(7))).isEqualTo(60);
    answers.clear();
    answer(new PeerReply.Remaining(41, 60));
    assertThat(now(times.timeToLive(7))).isEqualTo(new PeerReply.Remaining(41, 60));
    assertThat(asked)
        .containsExactly(new PeerQuery.RenewQuery(List.of(7L)), new PeerQuery.TimeToLiveQuery(7));
    fake.lease.expectNoMessage(Duration.ZERO);
  }

  /** After a refusal or a timeout, the next leader is asked. */
  @Test
  void repeatsQueryAfterLeaderChange() throws Exception {
    CompletionStage<Long> renewed = times.renew(7);
    answer(new PeerReply.Refused(Refusal.NO_LEADER));
    answers.add(CompletableFuture.failedFuture(new TimeoutException("no reply")));
    answer(new PeerReply.Renewed(List.of(60L)));
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
    Deque<CompletableFuture<PeerReply>> open = new ArrayDeque<>();
    Deque<PeerQuery.RenewQuery> queries = new ArrayDeque<>();
    RenewalForwarder forwarded =
        new RenewalForwarder(
            query -> {
              CompletableFuture<PeerReply> answer = new CompletableFuture<>();
              queries.add((PeerQuery.RenewQuery) query);
              open.add(answer);
              return answer;
            });
    List<CompletionStage<Long>> renewals = new ArrayList<>();
    LongStream.range(0, 3000).forEach(lease -> renewals.add(forwarded.renew(lease)));
    assertThat(queries).hasSize(RenewalForwarder.QUERIES_AT_ONCE);
    int count = 0;
    while (!open.isEmpty()) {
      count++;
      open.remove()
          .complete(
              new PeerReply.Renewed(
                  queries.remove().leases().stream().map(lease -> lease + 1).toList()));
    }
    for (int i = 0; i < renewals.size(); i++) {
      assertThat(now(renewals.get(i))).isEqualTo(i + 1);
    }
    assertThat(count).isEqualTo(RenewalForwarder.QUERIES_AT_ONCE + 3);
    CompletionStage<Long> lost = forwarded.renew(1);
    open.remove().complete(new PeerReply.Renewed(List.of()));
    refused(lost, Refusal.TIMED_OUT);
  }

  /** Each would wait for a timeout of its own otherwise, one after the other. */
  @Test
  void renewalsThatWaitFailWithAQueryThatFails() throws Exception {
    Deque<CompletableFuture<PeerReply>> open = new ArrayDeque<>();
    RenewalForwarder forwarded =
        new RenewalForwarder(
            query -> {
              open.add(new CompletableFuture<>());
              return open.getLast();
            });
    List<CompletionStage<Long>> renewals = new ArrayList<>();
    LongStream.range(0, RenewalForwarder.QUERIES_AT_ONCE + 2500)
        .forEach(lease -> renewals.add(forwarded.renew(lease)));
    open.remove().completeExceptionally(new TimeoutException("no reply"));
    for (int i = 0; i < renewals.size(); i++) {
      boolean isSent = i > 0 && i < RenewalForwarder.QUERIES_AT_ONCE;
      assertThat(renewals.get(i).toCompletableFuture().isCompletedExceptionally())
          .isEqualTo(!isSent);
    }
    CompletionStage<Long> later = forwarded.renew(7);
    open.getLast().complete(new PeerReply.Renewed(List.of(60L)));
    assertThat(now(later)).isEqualTo(60);
  }
}
