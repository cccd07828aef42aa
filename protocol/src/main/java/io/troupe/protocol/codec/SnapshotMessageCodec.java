package io.troupe.protocol.codec;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.protocol.wire.WirePeerEnvelope;
import io.troupe.protocol.wire.WireSnapshotChunk;
import io.troupe.protocol.wire.WireSnapshotDone;
import io.troupe.protocol.wire.WireSnapshotHave;
import io.troupe.protocol.wire.WireSnapshotOffer;

/** Encodes and decodes the snapshot actors' messages in an envelope. */
final class SnapshotMessageCodec {
  private SnapshotMessageCodec() {}

  static void put(SnapshotMessage message, WirePeerEnvelope.Builder out) {
    if (message instanceof SnapshotMessage.Chunk chunk) {
      out.setSnapshotChunk(
          WireSnapshotChunk.newBuilder()
              .setTransfer(chunk.transfer())
              .setFile(chunk.file())
              .setOffset(chunk.offset())
              .setData(RaftMessageCodec.view(chunk.data()))
              .setCrc(chunk.crc32c()));
    } else if (message instanceof SnapshotMessage.Have have) {
      out.setSnapshotHave(
          WireSnapshotHave.newBuilder()
              .setTransfer(have.transfer())
              .setFile(have.file())
              .setOffset(have.offset()));
    } else if (message instanceof SnapshotMessage.Offer offer) {
      out.setSnapshotOffer(
          WireSnapshotOffer.newBuilder()
              .setTransfer(offer.transfer())
              .setTerm(offer.term())
              .setManifest(RaftMessageCodec.view(offer.manifest())));
    } else if (message instanceof SnapshotMessage.Finished finished) {
      out.setSnapshotDone(
          WireSnapshotDone.newBuilder()
              .setTransfer(finished.transfer())
              .setOk(finished.ok())
              .setReason(finished.reason()));
    }
  }

  /**
   * Returns the message of an envelope.
   *
   * @throws IllegalArgumentException for an invalid value
   */
  static SnapshotMessage get(WirePeerEnvelope wire) throws InvalidProtocolBufferException {
    return switch (wire.getBodyCase()) {
      case SNAPSHOT_OFFER -> {
        WireSnapshotOffer offer = wire.getSnapshotOffer();
        yield new SnapshotMessage.Offer(
            offer.getTransfer(), offer.getTerm(), OperationCodec.bytes(offer.getManifest()));
      }
      case SNAPSHOT_HAVE -> {
        WireSnapshotHave have = wire.getSnapshotHave();
        yield new SnapshotMessage.Have(
            have.getTransfer(), notNegative(have.getFile()), notNegative(have.getOffset()));
      }
      case SNAPSHOT_CHUNK -> {
        WireSnapshotChunk chunk = wire.getSnapshotChunk();
        yield new SnapshotMessage.Chunk(
            chunk.getTransfer(),
            notNegative(chunk.getFile()),
            notNegative(chunk.getOffset()),
            OperationCodec.bytes(chunk.getData()),
            chunk.getCrc());
      }
      case SNAPSHOT_DONE -> {
        WireSnapshotDone done = wire.getSnapshotDone();
        yield new SnapshotMessage.Finished(done.getTransfer(), done.getOk(), done.getReason());
      }
      default -> throw new InvalidProtocolBufferException("no snapshot message");
    };
  }

  private static int notNegative(int value) {
    return (int) notNegative((long) value);
  }

  private static long notNegative(long value) {
    if (value < 0) {
      throw new IllegalArgumentException("negative position " + value);
    }
    return value;
  }

  static long sizeAtMost(SnapshotMessage message) {
    if (message instanceof SnapshotMessage.Chunk chunk) {
      return chunk.data().length();
    }
    if (message instanceof SnapshotMessage.Offer offer) {
      return offer.manifest().length();
    }
    return message instanceof SnapshotMessage.Finished finished
        ? 3L * finished.reason().length()
        : 0;
  }
}
