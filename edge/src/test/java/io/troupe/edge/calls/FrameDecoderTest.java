package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.grpc.error.GrpcException;
import io.troupe.model.Bytes;
import io.troupe.model.MemoryBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class FrameDecoderTest {
  private static final ActorSystem SYSTEM = ActorSystem.create("frames");

  @AfterAll
  static void stop() {
    SYSTEM.terminate();
  }

  private static List<Bytes> decode(List<ByteString> chunks) throws Exception {
    return Source.from(chunks)
        .via(new FrameDecoder("", 50, MemoryBudget.UNLIMITED.holder()))
        .runWith(Sink.seq(), SYSTEM)
        .toCompletableFuture()
        .get(10, TimeUnit.SECONDS);
  }

  private static ByteString frame(int length) {
    byte[] out = new byte[GrpcFrames.HEADER + length];
    GrpcFrames.putLength(out, 0, length);
    return ByteString.fromArray(out);
  }

  @Test
  void findsMessagesInAnyChunking() throws Exception {
    ByteString all = frame(0).concat(frame(50)).concat(frame(3));
    for (int cut = 1; cut < all.size(); cut++) {
      List<ByteString> chunks = new ArrayList<>();
      for (int at = 0; at < all.size(); at += cut) {
        chunks.add(all.slice(at, Math.min(at + cut, all.size())));
      }
      assertThat(decode(chunks)).extracting(Bytes::length).containsExactly(0, 50, 3);
    }
  }

  @Test
  void messageAboveLimitFailsBeforeItIsBuffered() {
    assertThatThrownBy(() -> decode(List.of(frame(51).take(GrpcFrames.HEADER))))
        .hasCauseInstanceOf(GrpcException.class)
        .hasMessageContaining("larger than max (51 vs. 50)");
  }

  @Test
  void incompleteMessageFails() {
    assertThatThrownBy(() -> decode(List.of(frame(10).dropRight(1))))
        .hasMessageContaining("ended inside a message");
  }
}
