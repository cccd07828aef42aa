package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.peers.OutboundQueue.Outgoing;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Messages that wait for a connection are bounded in number and bytes. */
class OutboundQueueTest {
  private static final int LONG_BYTES = 100_000;
  private static final int MEMORY = 1_000_000;
  private static final int MAX_MESSAGES = 3000;
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final PeerMemory.Part memory = new PeerMemory(3 * MEMORY).outbound();
  private final OutboundQueue queue = new OutboundQueue(memory, MAX_MESSAGES);

  private static Outgoing message(long bytes) {
    return new Outgoing(Frames.MESSAGE, bytes, () -> new byte[0]);
  }

  private static int fill(OutboundQueue filled) {
    int count = 0;
    while (filled.offer(message(LONG_BYTES))) {
      count++;
      assertThat(count).isLessThan(1000);
    }
    return count;
  }

  @Test
  void longMessagesAreBoundedTogether() {
    assertThat(fill(queue)).isEqualTo(MEMORY / LONG_BYTES);
    OutboundQueue other = new OutboundQueue(memory, MAX_MESSAGES);
    // Each member gets some, and makes progress.
    assertThat(fill(other)).isEqualTo(2);
    assertThat(memory.taken()).isEqualTo(MEMORY + 2 * LONG_BYTES);
  }

  @Test
  void shortMessagesAreBoundedInNumber() {
    int longOnes = fill(queue);
    for (int i = longOnes; i < MAX_MESSAGES; i++) {
      assertThat(queue.offer(message(200))).isTrue();
    }
    assertThat(queue.offer(message(200))).isFalse();
  }

  @Test
  void messagesAreTakenInOrderAndHoldMemoryUntilDone() throws Exception {
    List<Outgoing> sent = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Outgoing next = message(LONG_BYTES);
      sent.add(next);
      queue.offer(next);
    }
    List<Outgoing> taken = queue.take();
    assertThat(taken).isEqualTo(sent);
    assertThat(queue.isEmpty()).isTrue();
    assertThat(memory.taken()).isEqualTo(5 * LONG_BYTES);
    taken.forEach(queue::done);
    assertThat(memory.taken()).isZero();
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void droppedMessagesReleaseMemory() {
    int count = fill(queue);
    assertThat(queue.clear()).isEqualTo(count);
    assertThat(memory.taken()).isZero();
  }

  @Test
  void waitEndsWithMessageWakeOrClose() throws Exception {
    queue.awaitMessage(1000);
    assertThat(queue.take()).isEmpty();
    CompletableFuture<List<Outgoing>> waiting = CompletableFuture.supplyAsync(this::takeForMinute);
    Outgoing sent = message(10);
    queue.offer(sent);
    assertThat(waiting.get(20, TimeUnit.SECONDS)).containsExactly(sent);
    CompletableFuture<List<Outgoing>> woken = CompletableFuture.supplyAsync(this::takeForMinute);
    queue.wake();
    assertThat(woken.get(20, TimeUnit.SECONDS)).isEmpty();
    assertThat(queue.isIdle()).isTrue();
    CompletableFuture<List<Outgoing>> again = CompletableFuture.supplyAsync(this::takeForMinute);
    queue.close();
    assertThat(again.get(20, TimeUnit.SECONDS)).isEmpty();
    assertThat(queue.offer(sent)).isFalse();
    assertThat(queue.isIdle()).isFalse();
  }

  private List<Outgoing> takeForMinute() {
    try {
      queue.awaitMessage(MINUTE);
      return queue.take();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
