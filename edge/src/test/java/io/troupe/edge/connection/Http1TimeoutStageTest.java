package io.troupe.edge.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.MemoryBudget;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.BoundedSourceQueue;
import org.apache.pekko.stream.javadsl.AsPublisher;
import org.apache.pekko.stream.javadsl.BidiFlow;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** The bytes of one connection; the test drives its client and its server step by step. */
class Http1TimeoutStageTest {
  private static final ActorSystem SYSTEM = ActorSystem.create("guard");
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final ByteString GET = ByteString.fromString("GET / HTTP/1.1\r\n\r\n");
  private static final ByteString ANSWER = ByteString.fromString("HTTP/1.1 200 OK\r\n\r\n");

  private final ConnectionState connection = new ConnectionState(MemoryBudget.UNLIMITED.holder());
  private final AtomicLong nanos = new AtomicLong();

  @AfterAll
  static void stop() {
    SYSTEM.terminate();
  }

  /** Requests elements only on demand of the test. */
  private static final class Taker implements Subscriber<ByteString> {
    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    private final CompletableFuture<Subscription> subscription = new CompletableFuture<>();

    @Override
    public void onSubscribe(Subscription made) {
      subscription.complete(made);
    }

    @Override
    public void onNext(ByteString bytes) {
      events.add(bytes);
    }

    @Override
    public void onError(Throwable failure) {
      events.add(failure);
    }

    @Override
    public void onComplete() {
      events.add("complete");
    }

    void request(int parts) {
      subscription.join().request(parts);
    }

    private Object next() throws InterruptedException {
      Object next = events.poll(20, TimeUnit.SECONDS);
      assertThat(next).as("no element in time").isNotNull();
      return Objects.requireNonNull(next);
    }

    void expect(ByteString bytes) throws InterruptedException {
      assertThat(next()).isEqualTo(bytes);
    }

    void expectNothing(Duration time) throws InterruptedException {
      assertThat(events.poll(time.toMillis(), TimeUnit.MILLISECONDS)).isNull();
    }

    void expectComplete() throws InterruptedException {
      assertThat(next()).isEqualTo("complete");
    }

    void expectError() throws InterruptedException {
      assertThat(next()).isInstanceOf(TimeoutException.class);
    }
  }

  /** The four ports of the stage. */
  private record Ends(
      BoundedSourceQueue<ByteString> client,
      Taker clientGets,
      BoundedSourceQueue<ByteString> server,
      Taker serverGets) {
    void send(ByteString bytes) {
      assertThat(client.offer(bytes).isEnqueued()).isTrue();
    }

    void request(ByteString bytes) throws InterruptedException {
      serverGets.request(1);
      send(bytes);
      serverGets.expect(bytes);
    }

    void respond() throws InterruptedException {
      clientGets.request(1);
      assertThat(server.offer(ANSWER).isEnqueued()).isTrue();
      clientGets.expect(ANSWER);
    }

    void expectCut() throws InterruptedException {
      serverGets.expectError();
      clientGets.expectError();
    }
  }

  private Ends stage(Duration head, Duration idle) {
    var serverSide =
        Flow.fromSinkAndSourceMat(
            Sink.<ByteString>asPublisher(AsPublisher.WITHOUT_FANOUT),
            Source.<ByteString>queue(16),
            Keep.both());
    var guard =
        BidiFlow.fromGraph(
            new Http1TimeoutStage(
                "test", connection, new Http1TimeoutStage.Limits(head, idle), nanos::get));
    var clientSide =
        Source.<ByteString>queue(16)
            .viaMat(guard.reversed().join(serverSide, Keep.right()), Keep.both());
    var run =
        clientSide
            .toMat(Sink.<ByteString>asPublisher(AsPublisher.WITHOUT_FANOUT), Keep.both())
            .run(SYSTEM);
    Ends ends =
        new Ends(run.first().first(), new Taker(), run.first().second().second(), new Taker());
    run.first().second().first().subscribe(ends.serverGets());
    run.second().subscribe(ends.clientGets());
    return ends;
  }

  @Test
  void headOfLaterRequestHasTimeLimit() throws InterruptedException {
    Ends ends = stage(SHORT, LONG);
    ends.request(GET);
    ends.respond();
    ends.request(ByteString.fromString("GET / HT"));
    ends.expectCut();
  }

  @Test
  void completeLaterHeadIsAccepted() throws InterruptedException {
    Ends ends = stage(SHORT, LONG);
    for (int i = 0; i < 3; i++) {
      ends.request(GET.take(7));
      ends.request(GET.drop(7));
      ends.respond();
    }
    ends.serverGets().request(1);
    ends.serverGets().expectNothing(SHORT.multipliedBy(2));
  }

  @Test
  void bodyHasNoHeadLimit() throws InterruptedException {
    Ends ends = stage(SHORT, LONG);
    ends.request(ByteString.fromString("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nA: b"));
    ends.serverGets().request(1);
    ends.serverGets().expectNothing(SHORT.multipliedBy(2));
  }

  @Test
  void headThatServerDoesNotReadIsNotLate() throws InterruptedException {
    Ends ends = stage(SHORT, LONG);
    ends.request(GET);
    // Read ahead, while the first request waits for its response.
    ends.send(GET.take(7));
    ends.send(GET.drop(7));
    ends.serverGets().expectNothing(SHORT.multipliedBy(2));
    ends.respond();
    ends.serverGets().request(2);
    ends.serverGets().expect(GET.take(7));
    ends.serverGets().expect(GET.drop(7));
  }

  @Test
  void idleConnectionIsClosed() throws InterruptedException {
    Ends ends = stage(LONG, SHORT);
    ends.request(GET);
    ends.respond();
    nanos.addAndGet(SHORT.toNanos());
    ends.expectCut();
  }

  @Test
  void connectionWaitingForResponseIsNotIdle() throws InterruptedException {
    Ends ends = stage(LONG, SHORT);
    CompletableFuture<HttpResponse> response = new CompletableFuture<>();
    CompletableFuture<ByteString> last = new CompletableFuture<>();
    var made = connection.countOpen(response);
    ends.request(GET);
    nanos.addAndGet(LONG.toNanos());
    ends.clientGets().request(1);
    ends.clientGets().expectNothing(SHORT.multipliedBy(2));
    response.complete(
        HttpResponse.create()
            .withEntity(
                HttpEntities.createChunked(
                    ContentTypes.APPLICATION_JSON, Source.completionStage(last))));
    var body =
        made.toCompletableFuture().join().entity().getDataBytes().runWith(Sink.ignore(), SYSTEM);
    ends.clientGets().expectNothing(SHORT.multipliedBy(2));
    last.complete(ByteString.fromString("x"));
    assertThat(body).succeedsWithin(LONG);
    nanos.addAndGet(SHORT.toNanos());
    ends.expectCut();
  }

  @Test
  void http2HasNoTimeLimits() throws InterruptedException {
    Ends ends = stage(SHORT, SHORT);
    ends.request(ByteString.fromString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    nanos.addAndGet(LONG.toNanos());
    ends.serverGets().request(1);
    ends.serverGets().expectNothing(SHORT.multipliedBy(3));
    ends.send(GET);
    ends.serverGets().expect(GET);
  }

  @Test
  void clientCloseIsSeenWhileServerDoesNotRead() throws InterruptedException {
    Ends ends = stage(LONG, LONG);
    CompletableFuture<Void> gone = new CompletableFuture<>();
    connection.whenGone(ConnectionState.NO_STREAM, () -> gone.complete(null));
    ends.request(GET);
    assertThat(gone).isNotDone();
    ends.client().complete();
    assertThat(gone).succeedsWithin(Duration.ofSeconds(20));
    // A client that only closed its side still gets its response.
    CompletableFuture<HttpResponse> response = new CompletableFuture<>();
    var made = connection.countOpen(response);
    ends.clientGets().request(1);
    ends.serverGets().expectNothing(SHORT);
    response.complete(HttpResponse.create());
    assertThat(made.toCompletableFuture().join().status().intValue()).isEqualTo(200);
    ends.respond();
    ends.serverGets().expectComplete();
  }

  @Test
  void closeInsideRequestIsReportedImmediately() throws InterruptedException {
    Ends ends = stage(LONG, LONG);
    var open = connection.countOpen(new CompletableFuture<>());
    ends.request(ByteString.fromString("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nA: b"));
    ends.client().complete();
    ends.serverGets().expectComplete();
    assertThat(open).isNotDone();
  }

  @Test
  void readAheadBytesAreNotLostOnClose() throws InterruptedException {
    Ends ends = stage(LONG, LONG);
    ends.request(GET);
    ends.clientGets().request(1);
    ends.send(GET);
    ends.client().complete();
    ends.serverGets().expectNothing(SHORT);
    ends.serverGets().request(1);
    ends.serverGets().expect(GET);
    ends.serverGets().expectComplete();
  }

  @Test
  void actionsRunOnceAndImmediatelyAfterDisconnect() {
    AtomicInteger before = new AtomicInteger();
    AtomicInteger after = new AtomicInteger();
    AtomicBoolean forgotten = new AtomicBoolean();
    Runnable late = () -> forgotten.set(true);
    connection.whenGone(ConnectionState.NO_STREAM, before::incrementAndGet);
    connection.whenGone(ConnectionState.NO_STREAM, late);
    connection.forget(ConnectionState.NO_STREAM, late);
    connection.gone();
    connection.gone();
    connection.whenGone(ConnectionState.NO_STREAM, after::incrementAndGet);
    assertThat(before).hasValue(1);
    assertThat(after).hasValue(1);
    assertThat(forgotten).isFalse();
  }
}
