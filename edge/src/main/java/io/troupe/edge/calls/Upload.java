package io.troupe.edge.calls;

import io.troupe.model.MemoryBudget;
import org.apache.pekko.util.ByteString;

/**
 * The received part of the body of a unary call. Kept outside the stream, because failed stages
 * keep what they collected while the rest of the body is dropped. Used by one thread.
 */
final class Upload {
  private final int maxBytes;
  private final MemoryBudget.Share memory;
  private ByteString sofar = ByteString.emptyByteString();

  /**
   * Starts empty.
   *
   * @param maxBytes maximum size of a message
   * @param memory counts the received bytes
   */
  Upload(int maxBytes, MemoryBudget.Share memory) {
    this.maxBytes = maxBytes;
    this.memory = memory;
  }

  /**
   * Adds received bytes.
   *
   * @throws RuntimeException as soon as the announced or received size of the message is above the
   *     limit, or no memory is left for it; then nothing is kept
   */
  void add(ByteString chunk) {
    try {
      memory.take(chunk.size());
      boolean headerWasThere = sofar.size() >= GrpcFrames.HEADER;
      sofar = sofar.concat(chunk);
      if (!headerWasThere && sofar.size() >= GrpcFrames.HEADER) {
        byte[] header = sofar.take(GrpcFrames.HEADER).toArray();
        GrpcFrames.checkSize(GrpcFrames.length(header, 0), maxBytes);
      }
      GrpcFrames.checkSize((long) sofar.size() - GrpcFrames.HEADER, maxBytes);
    } catch (RuntimeException refused) {
      take();
      throw refused;
    }
  }

  /** Returns the received bytes and releases them. */
  ByteString take() {
    ByteString taken = sofar;
    sofar = ByteString.emptyByteString();
    return taken;
  }
}
