package io.troupe.protocol.codec;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerGreeting;
import io.troupe.protocol.wire.WireGreeting;
import io.troupe.protocol.wire.WireGreetingReply;
import java.io.IOException;

/**
 * Greetings of connections between members and their replies, with the head of {@link PeerCodec}
 * (docs/formats/peer-connection.md). All versions of the protocol can read them.
 */
public final class GreetingCodec {
  private GreetingCodec() {}

  /** Encodes a greeting. */
  public static byte[] encode(PeerGreeting greeting) {
    return PeerCodec.versioned(
        WireGreeting.newBuilder()
            .setOldest(greeting.oldest())
            .setNewest(greeting.newest())
            .setCluster(greeting.clusterId())
            .setFrom(greeting.from().value())
            .setTo(greeting.to().value())
            .setFromUrl(greeting.fromUrl())
            .setChannel(greeting.channel().number())
            .setServerVersion(PeerVersions.text(greeting.server()))
            .build());
  }

  /**
   * Decodes a greeting.
   *
   * @throws IOException if the bytes are none, or name an unknown channel
   */
  public static PeerGreeting decode(Bytes data) throws IOException {
    WireGreeting wire = WireGreeting.parseFrom(OperationCodec.input(PeerCodec.body(data)));
    PeerChannel channel = PeerChannel.of(wire.getChannel());
    if (channel == null) {
      throw new InvalidProtocolBufferException("unknown channel " + wire.getChannel());
    }
    return new PeerGreeting(
        wire.getOldest(),
        wire.getNewest(),
        wire.getCluster(),
        new NodeId(wire.getFrom()),
        new NodeId(wire.getTo()),
        wire.getFromUrl(),
        channel,
        PeerVersions.version(wire.getServerVersion()));
  }

  /** Encodes a reply. */
  public static byte[] encode(PeerGreeting.Reply reply) {
    return PeerCodec.versioned(
        WireGreetingReply.newBuilder()
            .setVersion(reply.version())
            .setCluster(reply.clusterId())
            .setMember(reply.member().value())
            .setReason(reply.reason())
            .setStarting(reply.starting())
            .setServerVersion(PeerVersions.text(reply.server()))
            .build());
  }

  /**
   * Decodes a reply.
   *
   * @throws IOException if the bytes are none
   */
  public static PeerGreeting.Reply decodeReply(Bytes data) throws IOException {
    WireGreetingReply wire =
        WireGreetingReply.parseFrom(OperationCodec.input(PeerCodec.body(data)));
    return new PeerGreeting.Reply(
        wire.getVersion(),
        wire.getCluster(),
        new NodeId(wire.getMember()),
        wire.getReason(),
        wire.getStarting(),
        PeerVersions.version(wire.getServerVersion()));
  }
}
