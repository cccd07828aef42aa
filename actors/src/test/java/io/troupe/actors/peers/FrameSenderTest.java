package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerFragment;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.protocol.codec.QueryCodec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The sender that is read from the bytes is the one that the decoder reads. */
class FrameSenderTest {
  private static final NodeId FROM = new NodeId(0xabcdef0123456789L);
  private static final PeerEnvelope MESSAGE =
      new PeerEnvelope(7, FROM, new NodeId(2), "http://x:1", new PeerPayload.Hello());

  @Test
  void messageNamesSenderAndUrl() throws IOException {
    assertThat(FrameSender.of(ByteBuffer.wrap(PeerCodec.encode(MESSAGE)), true))
        .isEqualTo(new FrameSender(FROM.value(), "http://x:1"));
  }

  @Test
  void pieceNamesSender() throws IOException {
    byte[] piece =
        PeerCodec.encode(new PeerFragment(7, FROM, new NodeId(2), 9, 3, 0, Bytes.of(1, 2)));
    assertThat(FrameSender.of(ByteBuffer.wrap(piece), false))
        .isEqualTo(new FrameSender(FROM.value(), ""));
  }

  @Test
  void questionNamesSenderAndReplyUrl() throws IOException {
    byte[] question =
        QueryCodec.encode(
            new QueryFrame.Question(
                7, FROM, 5, "http://y:1", Duration.ofSeconds(1), new PeerQuery.TimeToLiveQuery(3)));
    assertThat(FrameSender.of(ByteBuffer.wrap(question), true))
        .isEqualTo(new FrameSender(FROM.value(), "http://y:1"));
  }

  /** A forger names its own member first, and another one last, which the decoder believes. */
  @Test
  void lastSenderCounts() throws IOException {
    ByteArrayOutputStream twice = new ByteArrayOutputStream();
    twice.write(PeerCodec.encode(MESSAGE));
    twice.write(0x11);
    twice.write(new byte[] {4, 0, 0, 0, 0, 0, 0, 0});
    assertThat(FrameSender.of(ByteBuffer.wrap(twice.toByteArray()), true).id()).isEqualTo(4);
  }

  @Test
  void rubbishIsNoMessage() {
    for (byte[] rubbish :
        new byte[][] {{}, {2, 0, 0, 0}, {2, 0, 0, 0, 0, 0x11, 1}, {2, 0, 0, 0, 0, 0x0c}}) {
      assertThatThrownBy(() -> FrameSender.of(ByteBuffer.wrap(rubbish), true))
          .isInstanceOf(IOException.class);
    }
  }
}
