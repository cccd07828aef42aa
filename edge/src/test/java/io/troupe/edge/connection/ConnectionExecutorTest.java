package io.troupe.edge.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.protocol.ReplyBatch;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.BoundedSourceQueue;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.SinkQueueWithCancel;
import org.apache.pekko.stream.javadsl.Source;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks of a connection, while it is open and when it ends. */
@Timeout(60)
class ConnectionExecutorTest {
  private static final ActorSystem SYSTEM = ActorSystem.create("executor");

  private final ConnectionExecutor<String> executor = new ConnectionExecutor<>();
  private final Pair<BoundedSourceQueue<String>, SinkQueueWithCancel<String>> stream =
      Source.<String>queue(10)
          .via(executor)
          .toMat(Sink.queue(), Keep.both())
          .run(SystemMaterializer.get(SYSTEM).materializer());

  @AfterAll
  static void stop() {
    SYSTEM.terminate();
  }

  private void request(String text) throws Exception {
    stream.first().offer(text);
    assertThat(stream.second().pull().toCompletableFuture().get(20, TimeUnit.SECONDS))
        .contains(text);
  }

  @Test
  void tasksRunInOrderOnTheThreadOfTheStream() throws Exception {
    request("a");
    List<Integer> seen = new CopyOnWriteArrayList<>();
    CompletableFuture<Thread> last = new CompletableFuture<>();
    IntStream.range(0, 1000).forEach(i -> executor.execute(() -> seen.add(i)));
    executor.execute(() -> last.complete(Thread.currentThread()));
    assertThat(last.get(20, TimeUnit.SECONDS)).isNotSameAs(Thread.currentThread());
    assertThat(seen).isEqualTo(IntStream.range(0, 1000).boxed().toList());
    request("b");
  }

  /** Their responses leave together: a few large writes instead of many small ones. */
  @Test
  void tasksOfBatchRunOnceAllItsRepliesAreSent() throws Exception {
    request("a");
    ReplyBatch batch = new ReplyBatch();
    List<Integer> seen = new CopyOnWriteArrayList<>();
    CompletableFuture<Void> last = new CompletableFuture<>();
    IntStream.range(0, 100).forEach(i -> executor.execute(() -> seen.add(i), batch));
    executor.execute(() -> last.complete(null), batch);
    // An element passes the stage, so that a wake-up before the end of the batch would have run.
    request("b");
    assertThat(seen).isEmpty();
    batch.sent();
    last.get(20, TimeUnit.SECONDS);
    assertThat(seen).isEqualTo(IntStream.range(0, 100).boxed().toList());
  }

  /** A connection that ended receives no rest of a batch; what it holds is released. */
  @Test
  void tasksOfBatchRunWhenTheStreamEnds() throws Exception {
    request("a");
    CompletableFuture<Void> ran = new CompletableFuture<>();
    ReplyBatch batch = new ReplyBatch();
    executor.execute(() -> ran.complete(null), batch);
    stream.first().complete();
    ran.get(20, TimeUnit.SECONDS);
    batch.sent();
  }

  @Test
  void tasksNeverRunAtTheSameTimeWhileTheStreamIsOpen() throws Exception {
    request("a");
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(4 * 10_000);
    CyclicBarrier start = new CyclicBarrier(4);
    for (int t = 0; t < 4; t++) {
      new Thread(
              () -> {
                try {
                  start.await();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
                for (int i = 0; i < 10_000; i++) {
                  executor.execute(
                      () -> {
                        most.accumulateAndGet(running.incrementAndGet(), Math::max);
                        running.decrementAndGet();
                        done.countDown();
                      });
                }
              })
          .start();
    }
    assertThat(done.await(40, TimeUnit.SECONDS)).isTrue();
    assertThat(most).hasValue(1);
  }

  @Test
  void taskThatFailsDoesNotStopTheStream() throws Exception {
    request("a");
    CompletableFuture<Void> next = new CompletableFuture<>();
    executor.execute(
        () -> {
          throw new IllegalStateException("wanted by the test");
        });
    executor.execute(() -> next.complete(null));
    next.get(20, TimeUnit.SECONDS);
    request("b");
  }

  /** A client may leave while its call waits: what the call holds is released all the same. */
  @Test
  void everyTaskRunsAlthoughTheStreamEnds() throws Exception {
    request("a");
    CountDownLatch done = new CountDownLatch(100_000);
    Thread sender =
        new Thread(
            () -> {
              for (int i = 0; i < 100_000; i++) {
                executor.execute(done::countDown);
                if (i == 50_000) {
                  stream.first().complete();
                }
              }
            });
    sender.start();
    assertThat(done.await(40, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Thread> after = new CompletableFuture<>();
    executor.execute(() -> after.complete(Thread.currentThread()));
    after.get(20, TimeUnit.SECONDS);
  }
}
