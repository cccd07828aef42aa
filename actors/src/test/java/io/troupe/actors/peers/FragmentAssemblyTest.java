package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerFragment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FragmentAssemblyTest {
  private final PeerMemory.Part memory = new PeerMemory(1000).fragments();
  private final FragmentAssembly assembly = new FragmentAssembly(10, memory);

  private static PeerFragment piece(long message, int total, int offset, int... data) {
    return new PeerFragment(
        1, new NodeId(1), new NodeId(2), message, total, offset, Bytes.of(data));
  }

  private @Nullable Bytes add(PeerFragment piece) {
    return add(piece, 0);
  }

  private @Nullable Bytes add(PeerFragment piece, long nowNanos) {
    assertThat(memory.tryTake(assembly.needs(piece))).isTrue();
    Bytes whole = assembly.add(piece, nowNanos);
    assertThat(memory.taken()).isEqualTo(assembly.heldBytes());
    return whole;
  }

  @Test
  void piecesMakeTheWhole() {
    assertThat(add(piece(1, 4, 0, 1, 2))).isNull();
    assertThat(add(piece(1, 4, 2, 3))).isNull();
    assertThat(add(piece(1, 4, 3, 4))).isEqualTo(Bytes.of(1, 2, 3, 4));
  }

  @Test
  void aMessageWithAGapIsDroppedAndTheNextOneIsTaken() {
    assertThat(add(piece(1, 3, 0, 1))).isNull();
    assertThat(add(piece(1, 3, 2, 3))).isNull();
    assertThat(add(piece(1, 3, 1, 2))).as("too late").isNull();
    assertThat(add(piece(2, 2, 0, 8))).isNull();
    assertThat(add(piece(2, 2, 1, 9))).isEqualTo(Bytes.of(8, 9));
  }

  @Test
  void aNewMessageTakesThePlaceOfAnUnfinishedOne() {
    assertThat(add(piece(1, 3, 0, 1))).isNull();
    assertThat(add(piece(2, 2, 0, 8))).isNull();
    assertThat(add(piece(1, 3, 1, 2))).isNull();
    assertThat(add(piece(2, 2, 1, 9))).as("mixed messages are both lost").isNull();
  }

  @Test
  void aTailWithoutItsHeadIsDropped() {
    assertThat(add(piece(1, 2, 1, 2))).isNull();
    assertThat(add(piece(1, 2, 0, 1))).isNull();
    assertThat(add(piece(1, 2, 1, 2))).isEqualTo(Bytes.of(1, 2));
  }

  @Test
  void abandonedMessageIsStale() {
    assertThat(assembly.isStale(100, Duration.ofNanos(50))).as("nothing was begun").isFalse();
    add(piece(1, 3, 0, 1), 100);
    assertThat(assembly.isStale(149, Duration.ofNanos(50))).isFalse();
    assertThat(assembly.isStale(150, Duration.ofNanos(50))).isTrue();
    add(piece(1, 3, 1, 2), 150);
    assertThat(assembly.isStale(199, Duration.ofNanos(50))).isFalse();
    add(piece(1, 3, 2, 3), 150);
    assertThat(assembly.isStale(1000, Duration.ofNanos(50))).as("it is complete").isFalse();
  }

  @Test
  void tooLongAMessageTakesNoMemory() {
    assertThat(add(piece(1, 11, 0, 1))).isNull();
    assertThat(add(piece(1, 11, 1, 1))).isNull();
  }
}
