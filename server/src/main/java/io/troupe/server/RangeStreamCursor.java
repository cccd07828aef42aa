package io.troupe.server;

import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RangeStreamResponse;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.StateReader;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Position of a RangeStream (GS2-GS7). Immutable: each step returns a chunk and the next cursor.
 * All chunks are read at one revision; if the request has a negative revision, each is read at the
 * newest (GS3). The last chunk carries the header and the count.
 */
public final class RangeStreamCursor {
  private static final int FIRST_CHUNK_KEYS = 10;
  private static final int MOST_CHUNK_KEYS = 1 << 20;

  /** The common parameters of all chunks. */
  private record Pinned(
      Member member,
      RangeQuery query,
      long revision,
      long headerRevision,
      long maxChunkBytes,
      MemoryBudget.Share memory,
      CallerResolver callers,
      long authRevision) {}

  private final Pinned pinned;
  private final KeyRange rest;
  private final long sent;

  /** Maximum number of keys of the next chunk. */
  private final int keys;

  /** Size of the previous chunk, which is still in flight when the next one is read. */
  private final long lastBytes;

  private RangeStreamCursor(Pinned pinned, KeyRange rest, long sent, int keys, long lastBytes) {
    this.pinned = pinned;
    this.rest = rest;
    this.sent = sent;
    this.keys = keys;
    this.lastBytes = lastBytes;
  }

  /**
   * A part of the response.
   *
   * @param rest empty after the last part
   */
  public record Chunk(RangeStreamResponse response, Optional<RangeStreamCursor> rest) {}

  /** Pins the revision. */
  static RangeStreamCursor open(
      Member member,
      GatewaySettings settings,
      RangeQuery query,
      Call call,
      CallerResolver callers) {
    long current = member.state().revision();
    Pinned pinned =
        new Pinned(
            member,
            query,
            query.revision() == 0 ? current : query.revision(),
            current,
            settings.maxRequestBytes(),
            call.memory(),
            callers,
            callers.revision());
    return new RangeStreamCursor(pinned, query.range(), 0, FIRST_CHUNK_KEYS, 0);
  }

  /** Reads the next part on the executor of long reads. */
  public CompletionStage<Chunk> next() {
    return CompletableFuture.supplyAsync(this::read, pinned.member().reads().ranges());
  }

  /**
   * Must be called after the last part.
   *
   * @throws RefusedException if rights changed since the stream started (GS6)
   */
  public void end() {
    pinned.callers().requireSame(pinned.authRevision());
  }

  private Chunk read() {
    while (true) {
      long at = pinned.revision() < 0 ? pinned.member().state().revision() : pinned.revision();
      try {
        return read(at);
      } catch (RefusedException refused) {
        boolean overtaken = pinned.revision() < 0 && refused.reason() == Refusal.COMPACTED;
        if (!overtaken) {
          throw refused;
        }
        // A compaction removed the revision between its check and the read.
      }
    }
  }

  private Chunk read(long at) {
    RangeQuery query = pinned.query();
    // One message for a request without parts (GS5), and for a negative limit (GS7).
    if (query.countOnly() || query.range().isSingle() || query.limit() < 0) {
      return whole(at);
    }
    long left = query.limit() == 0 ? Integer.MAX_VALUE : query.limit() - sent;
    StateReader.Chunk chunk =
        pinned
            .member()
            .state()
            .chunk(
                rest, at, (int) Math.min(keys, left), maxBytes(), query.keysOnly(), query.target());
    count(chunk);
    RangeResponse.Builder out = RangeResponse.newBuilder();
    chunk.kvs().forEach(kv -> out.addKvs(ApiConverter.keyValue(kv)));
    long sentNow = sent + chunk.kvs().size();
    Bytes next = chunk.next();
    if (next == null) {
      return last(out, sentNow, 0);
    }
    KeyRange after = new KeyRange(next, rest.rangeEnd());
    if (query.limit() > 0 && sentNow >= query.limit()) {
      return last(out, sentNow, pinned.member().state().count(after, at));
    }
    RangeStreamResponse response = message(out);
    int bytes = response.getSerializedSize();
    RangeStreamCursor following =
        new RangeStreamCursor(pinned, after, sentNow, nextKeys(bytes), bytes);
    return new Chunk(response, Optional.of(following));
  }

  /** A stream holds the memory of this chunk and of the previous one, regardless of its length. */
  private void count(StateReader.Chunk chunk) {
    pinned.memory().shrinkTo(lastBytes);
    try {
      chunk.kvs().forEach(pinned.memory()::add);
    } catch (MemoryBudget.Exceeded exceeded) {
      throw new RefusedException(exceeded.reason());
    }
  }

  private boolean inKeyOrder() {
    return pinned.query().target() == RangeQuery.SortTarget.KEY;
  }

  /**
   * A sorted chunk is measured in keys, so it may have twice the bytes; its memory is still
   * bounded.
   */
  private long maxBytes() {
    return inKeyOrder() ? pinned.maxChunkBytes() : 2 * pinned.maxChunkBytes();
  }

  /**
   * GS4. In key order a chunk may end at any key, so only its size limits it. A sorted chunk is a
   * Range with a limit, so its keys are counted: twice or half as many as last time.
   */
  private int nextKeys(long bytes) {
    if (inKeyOrder()) {
      return Integer.MAX_VALUE;
    }
    if (bytes < pinned.maxChunkBytes() / 2) {
      return Math.min(2 * keys, MOST_CHUNK_KEYS);
    }
    return bytes > 2 * pinned.maxChunkBytes() ? Math.max(1, keys / 2) : keys;
  }

  private Chunk last(RangeResponse.Builder out, long sentNow, long after) {
    out.setHeader(pinned.member().header(pinned.headerRevision()))
        .setMore(after > 0)
        .setCount(sentNow + after);
    return new Chunk(message(out), Optional.empty());
  }

  private Chunk whole(long at) {
    RangeQuery query = pinned.query();
    RangeQuery all =
        new RangeQuery(
            query.range(),
            query.limit(),
            at,
            query.order(),
            query.target(),
            query.keysOnly(),
            query.countOnly(),
            0,
            0,
            0,
            0);
    RangeResult result = pinned.member().state().range(all, pinned.memory());
    return new Chunk(
        message(
            ApiConverter.range(pinned.member().header(pinned.headerRevision()), result)
                .toBuilder()),
        Optional.empty());
  }

  private static RangeStreamResponse message(RangeResponse.Builder response) {
    return RangeStreamResponse.newBuilder().setRangeResponse(response).build();
  }
}
