package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.peers.OutboundQueue.Outgoing;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerPayload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Artery's queues are bounded by messages; what waits there is bounded by bytes here. */
class OutboundQueueTest {
  private static final int LONG_BYTES = 100_000;
  private static final int MEMORY = 1_000_000;

  private final PeerMemory.Part memory = new PeerMemory(3 * MEMORY).outbound();
  private final OutboundQueue queue = new OutboundQueue(memory);
  private final PeerEnvelope message =
      new PeerEnvelope(1, new NodeId(1), new NodeId(2), "http://x:1", new PeerPayload.Hello());

  private List<Outgoing> fill(OutboundQueue filled) {
    List<Outgoing> sent = new ArrayList<>();
    while (filled.admits(LONG_BYTES)) {
      sent.add(filled.enter(message, LONG_BYTES));
      assertThat(sent.size()).isLessThan(1000);
    }
    return sent;
  }

  @Test
  void longMessagesAreBoundedTogether() {
    assertThat(fill(queue)).hasSize(MEMORY / LONG_BYTES);
    OutboundQueue other = new OutboundQueue(memory);
    // Each member gets some, and makes progress.
    assertThat(fill(other)).hasSize(2);
    assertThat(memory.taken()).isEqualTo(MEMORY + 2 * LONG_BYTES);
  }

  @Test
  void shortMessagesAlwaysPass() {
    fill(queue);
    for (int i = 0; i < 10_000; i++) {
      assertThat(queue.admits(200)).isTrue();
      queue.enter(message, 200);
    }
    // More than Artery keeps are not counted: it has dropped them.
    assertThat(queue.bytes()).isLessThan(MEMORY + 3072 * 200);
  }

  @Test
  void encodedMessagesReleaseMemory() {
    List<Outgoing> sent = fill(queue);
    sent.get(0).encoded();
    assertThat(queue.bytes()).isEqualTo(MEMORY - LONG_BYTES);
    assertThat(fill(queue)).hasSize(1);
  }

  /** A message that Artery encodes proves that it dropped those before it that it did not. */
  @Test
  void droppedMessagesAreForgottenWithTheNextOne() {
    fill(queue);
    Outgoing later = queue.enter(message, 200);
    later.encoded();
    assertThat(queue.bytes()).isZero();
    assertThat(memory.taken()).isZero();
  }

  @Test
  void queueOfMemberThatLeftIsForgotten() {
    fill(queue);
    queue.forgetUnused(System.nanoTime(), Duration.ofMinutes(10));
    assertThat(queue.bytes()).isEqualTo(MEMORY);
    queue.forgetUnused(
        System.nanoTime() + Duration.ofMinutes(10).toNanos(), Duration.ofMinutes(10));
    assertThat(memory.taken()).isZero();
  }
}
