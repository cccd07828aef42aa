package io.troupe.grpc.http;

import io.troupe.model.MemoryBudget;
import org.apache.pekko.util.ByteString;

/**
 * The body of a unary call while it comes. Kept apart from the stream that brings it: stages that
 * have failed keep what they gathered for as long as the rest of the body is dropped. One thread.
 */
final class Upload {
  private final int maxBytes;
  private final MemoryBudget.Share memory;
  private ByteString sofar = ByteString.emptyByteString();

  /**
   * Nothing came yet.
   *
   * @param maxBytes of a message
   * @param memory counts what came
   */
  Upload(int maxBytes, MemoryBudget.Share memory) {
    this.maxBytes = maxBytes;
    this.memory = memory;
  }

  /**
   * Adds what came.
   *
   * @throws RuntimeException as soon as the announced message or what came of it is above the
   *     limit, or there is no memory for it; then nothing is kept
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

  /** What came; nothing is kept. */
  ByteString take() {
    ByteString taken = sofar;
    sofar = ByteString.emptyByteString();
    return taken;
  }
}
