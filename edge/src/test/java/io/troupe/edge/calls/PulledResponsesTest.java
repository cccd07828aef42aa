package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.SinkQueueWithCancel;
import org.apache.pekko.testkit.javadsl.TestKit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class PulledResponsesTest {
  private static final ActorSystem SYSTEM = ActorSystem.create("pulled");
  private static final int RESPONSES = 30;

  /** Requests that the client itself makes before it is asked for a response. */
  private static final int OF_CLIENT = 2;

  private final AtomicInteger requested = new AtomicInteger();
  private final CompletableFuture<String> opened = new CompletableFuture<>();
  private final CompletableFuture<String> closed = new CompletableFuture<>();

  @AfterAll
  static void stop() {
    TestKit.shutdownActorSystem(SYSTEM);
  }

  private SinkQueueWithCancel<Integer> client() {
    return PulledResponses.source(() -> opened, stream -> next(), closed::complete)
        // A stage with the usual buffer, as the gateway has. The sink's own buffer would hide a
        // boundary between threads.
        .map(response -> response)
        .runWith(Sink.<Integer>queue().withAttributes(Attributes.inputBuffer(1, 1)), SYSTEM);
  }

  private CompletionStage<Optional<Integer>> next() {
    int number = requested.incrementAndGet();
    return CompletableFuture.completedFuture(
        number > RESPONSES ? Optional.<Integer>empty() : Optional.of(number));
  }

  /** Each response that waits for a slow client would take memory that counts nowhere. */
  @Test
  void responsesAreRequestedAsClientReads() {
    opened.complete("open");
    SinkQueueWithCancel<Integer> client = client();
    for (int i = 1; i <= 3; i++) {
      assertThat(client.pull()).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(Optional.of(i));
    }
    Awaitility.await("no more is requested")
        .during(Duration.ofMillis(200))
        .atMost(Duration.ofSeconds(10))
        .until(() -> requested.get() <= 3 + OF_CLIENT);
    for (int i = 4; i <= RESPONSES; i++) {
      assertThat(client.pull()).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(Optional.of(i));
    }
    assertThat(client.pull()).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(Optional.empty());
    assertThat(closed).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo("open");
  }

  @Test
  void streamOfDisconnectedClientIsClosedWhenItOpens() {
    SinkQueueWithCancel<Integer> client = client();
    client.cancel();
    assertThat(closed).isNotDone();
    opened.complete("late");
    assertThat(closed).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo("late");
  }

  @Test
  void failureToOpenFailsStream() {
    SinkQueueWithCancel<Integer> client = client();
    opened.completeExceptionally(new IllegalStateException("cannot open"));
    assertThat(client.pull())
        .failsWithin(10, TimeUnit.SECONDS)
        .withThrowableThat()
        .withMessageContaining("cannot open");
    assertThat(closed).isNotDone();
  }
}
