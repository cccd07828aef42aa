package io.troupe.protocol.codec;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.protocol.wire.WireHello;
import io.troupe.protocol.wire.WirePeerEnvelope;
import io.troupe.protocol.wire.WireStateDigest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Messages between members: one version byte, a CRC-32C of the rest, then a protobuf
 * WirePeerEnvelope (docs/formats/peer-message.md).
 */
public final class PeerCodec {
  /** The only supported version. */
  public static final byte VERSION = 2;

  /** Version and checksum. */
  private static final int HEAD_BYTES = 1 + Integer.BYTES;

  /** Version of the digest computation; digests of another version are not comparable. */
  private static final int DIGEST_FORMAT = 1;

  private static final int ENTRY_OVERHEAD = 32;
  private static final int MESSAGE_OVERHEAD = 256;

  private PeerCodec() {}

  /** Encodes a message. */
  public static byte[] encode(PeerEnvelope envelope) {
    WirePeerEnvelope.Builder out =
        WirePeerEnvelope.newBuilder()
            .setCluster(envelope.clusterId())
            .setFrom(envelope.from().value())
            .setTo(envelope.to().value());
    if (envelope.payload() instanceof PeerPayload.Raft raft) {
      RaftMessageCodec.put(raft.message(), out);
    } else if (envelope.payload() instanceof SnapshotMessage snapshot) {
      SnapshotMessageCodec.put(snapshot, out);
    } else if (envelope.payload() instanceof PeerPayload.StateDigest said) {
      out.setStateDigest(
          WireStateDigest.newBuilder()
              .setFormat(DIGEST_FORMAT)
              .setTerm(said.term())
              .setIndex(said.index())
              .setDigest(said.digest()));
    } else {
      out.setHello(WireHello.getDefaultInstance());
    }
    return versioned(out.build());
  }

  /**
   * Decodes a message. Byte fields of the result are copies.
   *
   * @throws IOException if the bytes are not a message of a known version
   */
  public static PeerEnvelope decode(Bytes data) throws IOException {
    WirePeerEnvelope wire = WirePeerEnvelope.parseFrom(OperationCodec.input(body(data)));
    try {
      return new PeerEnvelope(
          wire.getCluster(), new NodeId(wire.getFrom()), new NodeId(wire.getTo()), payload(wire));
    } catch (IllegalStateException | IllegalArgumentException e) {
      // Values that no member sends.
      throw new InvalidProtocolBufferException("bad peer message: " + e.getMessage(), e);
    }
  }

  private static PeerPayload payload(WirePeerEnvelope wire) throws InvalidProtocolBufferException {
    return switch (wire.getBodyCase()) {
      case SNAPSHOT_OFFER, SNAPSHOT_HAVE, SNAPSHOT_CHUNK, SNAPSHOT_DONE ->
          SnapshotMessageCodec.get(wire);
      case HELLO -> new PeerPayload.Hello();
      case STATE_DIGEST -> digest(wire.getStateDigest());
      case BODY_NOT_SET -> throw new InvalidProtocolBufferException("no body, or an unknown one");
      default -> new PeerPayload.Raft(RaftMessageCodec.get(wire));
    };
  }

  private static PeerPayload digest(WireStateDigest wire) throws InvalidProtocolBufferException {
    if (wire.getFormat() != DIGEST_FORMAT) {
      throw new InvalidProtocolBufferException("unknown digest format " + wire.getFormat());
    }
    return new PeerPayload.StateDigest(wire.getTerm(), wire.getIndex(), wire.getDigest());
  }

  /** Upper bound of the size of the encoded message, close to its actual size; cheap. */
  public static long sizeAtMost(PeerEnvelope envelope) {
    long size = MESSAGE_OVERHEAD;
    if (envelope.payload() instanceof PeerPayload.Raft raft) {
      return size + RaftMessageCodec.sizeAtMost(raft.message(), ENTRY_OVERHEAD);
    }
    return envelope.payload() instanceof SnapshotMessage snapshot
        ? size + SnapshotMessageCodec.sizeAtMost(snapshot)
        : size;
  }

  static byte[] versioned(Message message) {
    int size = message.getSerializedSize();
    byte[] bytes = new byte[HEAD_BYTES + size];
    try {
      CodedOutputStream out = CodedOutputStream.newInstance(bytes, HEAD_BYTES, size);
      message.writeTo(out);
      out.checkNoSpaceLeft();
    } catch (IOException e) {
      throw new IllegalStateException("in-memory stream failed", e);
    }
    ByteBuffer.wrap(bytes).put(VERSION).putInt(checksum(bytes, HEAD_BYTES, size));
    return bytes;
  }

  /**
   * Returns the bytes after the head, after checking the checksum. TCP's own checksum misses about
   * one damaged segment in ten thousand, and Raft trusts the messages of members.
   */
  static Bytes body(Bytes data) throws InvalidProtocolBufferException {
    if (data.isEmpty() || data.at(0) != VERSION) {
      throw new InvalidProtocolBufferException(
          "peer message of unknown format version " + (data.isEmpty() ? "(empty)" : data.at(0)));
    }
    if (data.length() < HEAD_BYTES) {
      throw new InvalidProtocolBufferException("peer message without a checksum");
    }
    Bytes body = data.slice(HEAD_BYTES);
    int stored = ByteBuffer.wrap(data.backingArray(), data.backingOffset() + 1, 4).getInt();
    if (stored != checksum(body.backingArray(), body.backingOffset(), body.length())) {
      throw new InvalidProtocolBufferException("peer message was damaged in flight");
    }
    return body;
  }

  private static int checksum(byte[] bytes, int offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, offset, length);
    return (int) crc.getValue();
  }
}
