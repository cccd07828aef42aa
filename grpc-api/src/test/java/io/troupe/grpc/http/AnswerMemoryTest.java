package io.troupe.grpc.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.MemoryBudget;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.testkit.javadsl.TestKit;
import org.apache.pekko.util.ByteString;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** A response's share of the memory for answers: until it is sent, and not longer. */
class AnswerMemoryTest {
  private static final ActorSystem SYSTEM = ActorSystem.create("answer-memory");
  private static final Materializer MATERIALIZER = SystemMaterializer.get(SYSTEM).materializer();
  private static final int LARGE = 1 << 20;

  private final MemoryBudget budget = new MemoryBudget(10 * LARGE);

  @AfterAll
  static void end() {
    TestKit.shutdownActorSystem(SYSTEM);
  }

  private HttpResponse response(int size) {
    MemoryBudget.Share share = budget.share();
    share.add(2L * LARGE);
    return GrpcResponses.unary(ByteString.fromArrayUnsafe(new byte[size]), share);
  }

  @Test
  void aLargeAnswerKeepsItsBytesUntilItIsSent() throws Exception {
    HttpResponse response = response(LARGE);
    assertThat(budget.taken()).isEqualTo(LARGE);
    response
        .entity()
        .getDataBytes()
        .runForeach(bytes -> assertThat(budget.taken()).isEqualTo(LARGE), MATERIALIZER)
        .toCompletableFuture()
        .get(10, TimeUnit.SECONDS);
    awaitNothingTaken(false);
  }

  @Test
  void aSmallAnswerKeepsNothing() {
    assertThat(response(1000).entity().isStrict()).isTrue();
    assertThat(budget.taken()).isZero();
  }

  /** The connection broke while the answer was gathered: nobody ever asks for the response. */
  @Test
  void anAbandonedAnswerGivesItsBytesBack() {
    assertThat(response(LARGE).entity().isStrict()).isFalse();
    awaitNothingTaken(true);
  }

  private void awaitNothingTaken(boolean collect) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .pollInterval(Duration.ofMillis(5))
        .until(
            () -> {
              if (collect) {
                System.gc();
              }
              return budget.taken() == 0;
            });
  }
}
