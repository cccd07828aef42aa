package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.PeerReply.KnownMember;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.QueryFrame.Query;
import io.troupe.protocol.QueryFrame.Reply;
import io.troupe.protocol.RefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The actor alone, with a connection that records sent frames and loses the frames that the test
 * wants lost.
 */
class PeerQueryActorTest {
  private static final String HERE = "http://here:1";
  private static final String THERE = "http://there:1";
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final PeerQuery PROMOTE = new PeerQuery.PromoteQuery(new NodeId(9));

  private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
  private final ManualTime time = ManualTime.get(kit.system());
  private final TestProbe<QueryFrame> sent = kit.createTestProbe(QueryFrame.class);
  private final List<CompletableFuture<PeerReply>> asked = new ArrayList<>();
  private final ActorRef<QueryFrame> actor =
      kit.spawn(
          PeerQueryActor.create(
              new PeerDirectory(),
              HERE,
              (url, frame) -> {
                assertThat(url).isEqualTo(THERE);
                sent.ref().tell(frame);
              }));

  PeerQueryActorTest() {
    actor.tell(new PeerQueryActor.Identified(new PeerIdentity(5, new NodeId(1), HERE)));
  }

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private void serve() {
    actor.tell(
        new PeerQueryActor.Serve(
            (from, query) -> {
              CompletableFuture<PeerReply> answer = new CompletableFuture<>();
              asked.add(answer);
              return answer;
            }));
  }

  private CompletableFuture<PeerReply> ask(PeerQuery query) {
    CompletableFuture<PeerReply> answer = new CompletableFuture<>();
    actor.tell(new PeerQueryActor.Ask(THERE, query, TIMEOUT, answer));
    return answer;
  }

  private static Query question(long number, PeerQuery query) {
    return new Query(5, new NodeId(2), number, THERE, Duration.ofMinutes(1), query);
  }

  private Query next() {
    return sent.expectMessageClass(Query.class);
  }

  @Test
  void queryIsRepeatedUntilReplyArrives() throws Exception {
    CompletableFuture<PeerReply> answer = ask(PROMOTE);
    Query first = next();
    assertThat(first.replyUrl()).isEqualTo(HERE);
    assertThat(first.clusterId()).isEqualTo(5);
    time.timePasses(Duration.ofMillis(300));
    assertThat(next()).isEqualTo(first);
    actor.tell(
        new PeerQueryActor.Received(
            new Reply(5, first.number(), PeerReply.Done.INSTANCE), () -> {}));
    assertThat(answer.get()).isEqualTo(PeerReply.Done.INSTANCE);
    time.expectNoMessageFor(Duration.ofSeconds(1), sent);
  }

  @Test
  void queryTimesOutAndLateReplyIsIgnored() {
    CompletableFuture<PeerReply> late = ask(PROMOTE);
    Query first = next();
    time.timePasses(TIMEOUT);
    CompletableFuture<PeerReply> second = ask(PROMOTE);
    assertThat(late)
        .failsWithin(Duration.ofSeconds(5))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(TimeoutException.class);
    actor.tell(
        new PeerQueryActor.Received(
            new Reply(5, first.number(), PeerReply.Done.INSTANCE), () -> {}));
    Query other =
        sent
            .fishForMessage(
                Duration.ofSeconds(5),
                frame ->
                    ((Query) frame).number() == first.number()
                        ? FishingOutcomes.continueAndIgnore()
                        : FishingOutcomes.complete())
            .stream()
            .map(Query.class::cast)
            .findFirst()
            .orElseThrow();
    assertThat(other.number()).isNotEqualTo(first.number());
    assertThat(second).isNotDone();
  }

  /** One timer serves all queries; each has its own times nevertheless. */
  @Test
  void eachQueryIsRepeatedAndTimesOutAtItsOwnTime() {
    CompletableFuture<PeerReply> early = ask(PROMOTE);
    long first = next().number();
    time.timePasses(Duration.ofMillis(120));
    CompletableFuture<PeerReply> late = ask(PROMOTE);
    long second = next().number();
    time.expectNoMessageFor(Duration.ofMillis(170), sent);
    time.timePasses(Duration.ofMillis(20));
    assertThat(next().number()).isEqualTo(first);
    time.expectNoMessageFor(Duration.ofMillis(100), sent);
    time.timePasses(Duration.ofMillis(50));
    assertThat(next().number()).isEqualTo(second);
    time.timePasses(Duration.ofMillis(1540));
    assertThat(early).failsWithin(Duration.ofSeconds(5));
    assertThat(late).isNotDone();
    time.timePasses(Duration.ofMillis(170));
    assertThat(late).failsWithin(Duration.ofSeconds(5));
  }

  @Test
  void queryAfterQuietTimeHasItsFullTimeout() {
    CompletableFuture<PeerReply> answered = ask(PROMOTE);
    actor.tell(
        new PeerQueryActor.Received(
            new Reply(5, next().number(), PeerReply.Done.INSTANCE), () -> {}));
    assertThat(answered).succeedsWithin(Duration.ofSeconds(5));
    time.timePasses(Duration.ofSeconds(10));
    CompletableFuture<PeerReply> next = ask(PROMOTE);
    long number = next().number();
    time.expectNoMessageFor(Duration.ofMillis(290), sent);
    time.timePasses(Duration.ofMillis(10));
    assertThat(next().number()).isEqualTo(number);
    time.timePasses(Duration.ofMillis(1690));
    assertThat(next).isNotDone();
    time.timePasses(Duration.ofMillis(10));
    assertThat(next).failsWithin(Duration.ofSeconds(5));
  }

  @Test
  void replyOfAnotherClusterIsIgnored() throws Exception {
    CompletableFuture<PeerReply> answer = ask(PROMOTE);
    Query question = next();
    actor.tell(
        new PeerQueryActor.Received(
            new Reply(6, question.number(), new PeerReply.Refused(Refusal.NOT_LEADER)), () -> {}));
    actor.tell(
        new PeerQueryActor.Received(
            new Reply(5, question.number(), PeerReply.Done.INSTANCE), () -> {}));
    assertThat(answer.get()).isEqualTo(PeerReply.Done.INSTANCE);
  }

  /** The second promotion would be refused, because the member is no longer a learner. */
  @Test
  void repeatedPromotionQueryPromotesOnce() {
    serve();
    actor.tell(new PeerQueryActor.Received(question(7, PROMOTE), () -> {}));
    actor.tell(new PeerQueryActor.Received(question(7, PROMOTE), () -> {}));
    sent.expectNoMessage(Duration.ofMillis(50));
    assertThat(asked).hasSize(1);
    asked.get(0).complete(PeerReply.Done.INSTANCE);
    Reply done = new Reply(5, 7, PeerReply.Done.INSTANCE);
    sent.expectMessage(done);
    // The reply was lost.
    actor.tell(new PeerQueryActor.Received(question(7, PROMOTE), () -> {}));
    sent.expectMessage(done);
    assertThat(asked).hasSize(1);
    // Another query is another promotion.
    actor.tell(new PeerQueryActor.Received(question(8, PROMOTE), () -> {}));
    sent.expectNoMessage(Duration.ofMillis(50));
    assertThat(asked).hasSize(2);
  }

  @Test
  void failureOfResponderBecomesRefusal() {
    actor.tell(
        new PeerQueryActor.Serve(
            (from, query) -> {
              throw new RefusedException(Refusal.STOPPED);
            }));
    actor.tell(new PeerQueryActor.Received(question(1, PROMOTE), () -> {}));
    sent.expectMessage(new Reply(5, 1, new PeerReply.Refused(Refusal.STOPPED)));
    actor.tell(
        new PeerQueryActor.Serve(
            (from, query) -> CompletableFuture.failedFuture(new IllegalStateException("broken"))));
    actor.tell(new PeerQueryActor.Received(question(2, PROMOTE), () -> {}));
    sent.expectMessage(new Reply(5, 2, new PeerReply.Refused(Refusal.TIMED_OUT)));
  }

  @Test
  void queriesInProgressAreBounded() {
    serve();
    for (int i = 0; i < PeerQueryActor.MAX_INCOMING; i++) {
      actor.tell(
          new PeerQueryActor.Received(question(i, PeerQuery.LivenessQuery.INSTANCE), () -> {}));
    }
    actor.tell(
        new PeerQueryActor.Received(question(1000, PeerQuery.LivenessQuery.INSTANCE), () -> {}));
    sent.expectMessage(new Reply(5, 1000, new PeerReply.Refused(Refusal.TOO_MANY_REQUESTS)));
    asked.get(0).complete(PeerReply.Done.INSTANCE);
    sent.expectMessage(new Reply(5, 0, PeerReply.Done.INSTANCE));
    actor.tell(
        new PeerQueryActor.Received(question(1001, PeerQuery.LivenessQuery.INSTANCE), () -> {}));
    for (int i = 0; i < PeerQueryActor.MAX_ASKED; i++) {
      assertThat(ask(PROMOTE)).isNotCompletedExceptionally();
    }
    assertThat(ask(PROMOTE))
        .failsWithin(Duration.ofSeconds(5))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void tooLargeReplyIsReplacedByRefusal() {
    actor.tell(
        new PeerQueryActor.Serve(
            (from, query) ->
                CompletableFuture.completedFuture(
                    new PeerReply.Members(
                        5,
                        List.of(
                            new KnownMember(
                                new NodeId(2),
                                "n".repeat(200_000),
                                List.of(),
                                List.of(),
                                false))))));
    actor.tell(new PeerQueryActor.Received(question(1, PeerQuery.MembersQuery.INSTANCE), () -> {}));
    sent.expectMessage(new Reply(5, 1, new PeerReply.Refused(Refusal.ANSWER_TOO_LARGE)));
  }
}
