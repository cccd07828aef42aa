package io.troupe.actors.peers;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.apache.pekko.actor.Address;
import org.apache.pekko.remote.ArteryControlFormats;

/** Builds Artery's bytes by hand, as an unknown peer can. */
final class ArteryFrames {
  static final int CONTROL = 1;
  static final int ORDINARY = 2;
  static final int LARGE = 3;
  static final int ARTERY_SERIALIZER = 17;

  private ArteryFrames() {}

  static byte[] preface(int stream) {
    return new byte[] {'A', 'K', 'K', 'A', (byte) stream};
  }

  /** With its length before it. */
  static byte[] withLength(byte[] frame) {
    return ByteBuffer.allocate(4 + frame.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(frame.length)
        .put(frame)
        .array();
  }

  static byte[] frame(
      long uid, int serializer, String sender, String receiver, String manifest, byte[] body) {
    ByteBuffer out =
        ByteBuffer.allocate(
                28 + 6 + sender.length() + receiver.length() + manifest.length() + body.length)
            .order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(0).putLong(uid).putInt(serializer);
    int at = 28;
    for (String text : new String[] {sender, receiver, manifest}) {
      out.putInt(at);
      at += 2 + text.length();
    }
    for (String text : new String[] {sender, receiver, manifest}) {
      out.putShort((short) text.length()).put(text.getBytes(StandardCharsets.US_ASCII));
    }
    return out.put(body).array();
  }

  static ArteryControlFormats.Address address(String host, int port) {
    return ArteryControlFormats.Address.newBuilder()
        .setProtocol("pekko")
        .setSystem(PeerConfig.SYSTEM)
        .setHostname(host)
        .setPort(port)
        .build();
  }

  static ArteryControlFormats.UniqueAddress process(String host, int port, long uid) {
    return ArteryControlFormats.UniqueAddress.newBuilder()
        .setAddress(address(host, port))
        .setUid(uid)
        .build();
  }

  static byte[] handshake(ArteryControlFormats.UniqueAddress from, Address to) {
    return frame(
        from.getUid(),
        ARTERY_SERIALIZER,
        "",
        "",
        "d",
        ArteryControlFormats.HandshakeReq.newBuilder()
            .setFrom(from)
            .setTo(address(to.getHost().orElseThrow(), to.getPort().orElseThrow()))
            .build()
            .toByteArray());
  }
}
