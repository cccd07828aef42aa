package io.troupe.protocol.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.model.Bytes;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerGreeting;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.wire.WireGreeting;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Greetings and their replies. Every version of the protocol must read them. */
class GreetingCodecTest {
  private static final String GOLDEN = "golden/peer-greetings-v1.txt";
  private static final NodeId A = new NodeId(0x8e9e05c52164694dL);
  private static final NodeId B = new NodeId(2);

  private static PeerGreeting greeting(PeerChannel channel) {
    return new PeerGreeting(1, 3, 9, A, B, "https://a:2380", channel);
  }

  @ParameterizedTest
  @EnumSource(PeerChannel.class)
  void greetingIsRestored(PeerChannel channel) throws IOException {
    PeerGreeting greeting = greeting(channel);
    assertThat(GreetingCodec.decode(Bytes.wrap(GreetingCodec.encode(greeting))))
        .isEqualTo(greeting);
  }

  @Test
  void repliesAreRestored() throws IOException {
    for (PeerGreeting.Reply reply :
        new PeerGreeting.Reply[] {
          PeerGreeting.Reply.accepted(1, 9, A),
          PeerGreeting.Reply.refused(QueryFrame.NO_CLUSTER, NodeId.NONE, "why"),
          PeerGreeting.Reply.notReady()
        }) {
      assertThat(GreetingCodec.decodeReply(Bytes.wrap(GreetingCodec.encode(reply))))
          .isEqualTo(reply);
    }
  }

  @Test
  void versionsAreRestored() throws IOException {
    EtcdVersion version = new EtcdVersion(3, 7, 1);
    PeerGreeting greeting = greeting(PeerChannel.RAFT).of(version);
    assertThat(GreetingCodec.decode(Bytes.wrap(GreetingCodec.encode(greeting))))
        .isEqualTo(greeting);
    PeerGreeting.Reply reply = PeerGreeting.Reply.accepted(1, 9, A).of(version);
    assertThat(GreetingCodec.decodeReply(Bytes.wrap(GreetingCodec.encode(reply)))).isEqualTo(reply);
    byte[] bad =
        PeerCodec.versioned(
            WireGreeting.newBuilder().setChannel(1).setServerVersion("3.x").build());
    assertThatThrownBy(() -> GreetingCodec.decode(Bytes.wrap(bad)))
        .isInstanceOf(InvalidProtocolBufferException.class)
        .hasMessageContaining("bad version");
  }

  @Test
  void unknownChannelIsRejected() {
    byte[] bytes = PeerCodec.versioned(WireGreeting.newBuilder().setChannel(9).build());
    assertThatThrownBy(() -> GreetingCodec.decode(Bytes.wrap(bytes)))
        .isInstanceOf(InvalidProtocolBufferException.class)
        .hasMessage("unknown channel 9");
  }

  /** Running members send these bytes: they never change. */
  @Test
  void goldenBytes() throws IOException {
    StringBuilder text = new StringBuilder();
    for (PeerChannel channel : PeerChannel.values()) {
      line("greeting-" + channel.number(), GreetingCodec.encode(greeting(channel)), text);
    }
    line("accepted", GreetingCodec.encode(PeerGreeting.Reply.accepted(1, 9, A)), text);
    line(
        "refused",
        GreetingCodec.encode(PeerGreeting.Reply.refused(QueryFrame.NO_CLUSTER, NodeId.NONE, "why")),
        text);
    line("not-ready", GreetingCodec.encode(PeerGreeting.Reply.notReady()), text);
    EtcdVersion version = new EtcdVersion(3, 7, 1);
    line(
        "greeting-with-version",
        GreetingCodec.encode(greeting(PeerChannel.RAFT).of(version)),
        text);
    line(
        "accepted-with-version",
        GreetingCodec.encode(PeerGreeting.Reply.accepted(1, 9, A).of(version)),
        text);
    if (System.getProperty("rewrite") != null) {
      Files.writeString(Path.of("src/test/resources", GOLDEN), text);
    }
    try (InputStream golden =
        GreetingCodecTest.class.getClassLoader().getResourceAsStream(GOLDEN)) {
      assertThat(golden).isNotNull();
      assertThat(text.toString())
          .isEqualTo(new String(golden.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  private static void line(String name, byte[] bytes, StringBuilder text) {
    text.append(name).append(' ').append(HexFormat.of().formatHex(bytes)).append('\n');
  }
}
