package io.troupe.edge.calls;

import com.google.protobuf.CodedOutputStream;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.model.Event;
import io.troupe.model.MemoryBudget;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import io.troupe.protocol.WatchReply;
import java.io.IOException;
import java.util.List;
import java.util.function.LongFunction;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * Encodes watch replies as frames. Events are encoded once for all watchers that share them. The
 * fields around their bytes are written by hand, because the generated class would encode each
 * event again.
 */
final class WatchFrames {
  private static final int EVENT_TAG_BYTES = 1;
  private static final byte[] NOTHING = {};
  private static final String WRONG_SIZE = "array of the exact size is too small";

  /** Smaller responses of a stream do not count one by one, so that fast streams cost nothing. */
  private static final int COUNTED_BYTES = 16 << 10;

  private final LongFunction<ResponseHeader> headers;

  /** Creates frames with headers for their revisions. */
  WatchFrames(LongFunction<ResponseHeader> headers) {
    this.headers = headers;
  }

  /**
   * All of {@code replies}, one frame each, in order; a large one is read while it is sent.
   *
   * @param memory counts the frames until they are sent
   */
  Source<ByteString, NotUsed> source(List<WatchReply> replies, MemoryBudget.Share memory) {
    int from = 0;
    Source<ByteString, NotUsed> all = null;
    for (int i = 0; i < replies.size(); i++) {
      if (replies.get(i) instanceof WatchReply.LargeRevision large) {
        all = joined(all, replies.subList(from, i), memory);
        Source<ByteString, NotUsed> frames =
            new LargeRevisionFrames(this, large).source().map(frame -> counted(frame, memory));
        all = all == null ? frames : all.concat(frames);
        from = i + 1;
      }
    }
    Source<ByteString, NotUsed> whole = joined(all, replies.subList(from, replies.size()), memory);
    return whole == null ? Source.empty() : whole;
  }

  private @Nullable Source<ByteString, NotUsed> joined(
      @Nullable Source<ByteString, NotUsed> before,
      List<WatchReply> replies,
      MemoryBudget.Share memory) {
    if (replies.isEmpty()) {
      return before;
    }
    Source<ByteString, NotUsed> frames = Source.single(counted(frames(replies), memory));
    return before == null ? frames : before.concat(frames);
  }

  private static ByteString counted(ByteString frames, MemoryBudget.Share memory) {
    if (frames.size() >= COUNTED_BYTES) {
      memory.encoded(frames.size());
    }
    return frames;
  }

  /** A reply as two arrays; the second one may be that of other replies too. */
  private static final class Parts {
    final byte[] fields;
    final byte[] events;

    Parts(byte[] fields, byte[] events) {
      this.fields = fields;
      this.events = events;
    }

    int size() {
      return Math.addExact(fields.length, events.length);
    }

    /** Returns the position behind the frame. */
    int write(byte[] out, int at) {
      GrpcFrames.putLength(out, at, size());
      int next = at + GrpcFrames.HEADER;
      System.arraycopy(fields, 0, out, next, fields.length);
      System.arraycopy(events, 0, out, next + fields.length, events.length);
      return next + fields.length + events.length;
    }
  }

  /** All replies as one array, one frame each, in order. */
  private ByteString frames(List<WatchReply> replies) {
    Parts[] parts = new Parts[replies.size()];
    int total = 0;
    ResponseHeader header = null;
    byte[] encodedHeader = NOTHING;
    for (int i = 0; i < parts.length; i++) {
      WatchReply reply = replies.get(i);
      if (header == null || header.getRevision() != reply.revision()) {
        header = headers.apply(reply.revision());
        encodedHeader = encoded(header);
      }
      parts[i] =
          reply instanceof WatchReply.Events events
              ? new Parts(
                  around(encodedHeader, reply.watchId(), events.fragment()),
                  events.events().encoded(events.prevKv(), WatchFrames::encode))
              : new Parts(message(reply, header).toByteArray(), NOTHING);
      total = Math.addExact(total, Math.addExact(GrpcFrames.HEADER, parts[i].size()));
    }
    byte[] out = new byte[total];
    int at = 0;
    for (Parts reply : parts) {
      at = reply.write(out, at);
    }
    return ByteString.fromArrayUnsafe(out);
  }

  /** A reply without events. */
  private static WatchResponse message(WatchReply reply, ResponseHeader header) {
    WatchResponse.Builder out =
        WatchResponse.newBuilder().setHeader(header).setWatchId(reply.watchId());
    if (reply instanceof WatchReply.Created) {
      out.setCreated(true);
    } else if (reply instanceof WatchReply.CreateFailed failed) {
      out.setCreated(true).setCanceled(true).setCancelReason(failed.reason());
    } else if (reply instanceof WatchReply.Canceled canceled) {
      out.setCanceled(true)
          .setCompactRevision(canceled.compactRevision())
          .setCancelReason(canceled.reason());
    }
    return out.build();
  }

  /** The fields of a response besides its events. */
  byte[] around(WatchReply reply) {
    return around(encoded(headers.apply(reply.revision())), reply.watchId(), false);
  }

  private static byte[] encoded(ResponseHeader header) {
    return WatchResponse.newBuilder().setHeader(header).build().toByteArray();
  }

  /** Fields in the order of their numbers; default values are left out. */
  private static byte[] around(byte[] header, long watchId, boolean fragment) {
    int size = header.length;
    if (watchId != 0) {
      size += CodedOutputStream.computeInt64Size(WatchResponse.WATCH_ID_FIELD_NUMBER, watchId);
    }
    if (fragment) {
      size += CodedOutputStream.computeBoolSize(WatchResponse.FRAGMENT_FIELD_NUMBER, true);
    }
    byte[] out = new byte[size];
    CodedOutputStream target = CodedOutputStream.newInstance(out);
    try {
      target.writeRawBytes(header);
      if (watchId != 0) {
        target.writeInt64(WatchResponse.WATCH_ID_FIELD_NUMBER, watchId);
      }
      if (fragment) {
        target.writeBool(WatchResponse.FRAGMENT_FIELD_NUMBER, true);
      }
      target.checkNoSpaceLeft();
    } catch (IOException e) {
      throw new IllegalStateException(WRONG_SIZE, e);
    }
    return out;
  }

  /** The response that carries these events. */
  ByteString events(WatchReply.Events reply) {
    return frames(List.of(reply));
  }

  private static byte[] encode(SharedEvents events, boolean prevKv) {
    int size = 0;
    for (SharedEvent event : events) {
      int length = encoded(event, prevKv).length;
      size =
          Math.addExact(
              size, EVENT_TAG_BYTES + CodedOutputStream.computeUInt32SizeNoTag(length) + length);
    }
    byte[] out = new byte[size];
    CodedOutputStream target = CodedOutputStream.newInstance(out);
    try {
      for (SharedEvent event : events) {
        target.writeByteArray(WatchResponse.EVENTS_FIELD_NUMBER, encoded(event, prevKv));
      }
      target.checkNoSpaceLeft();
    } catch (IOException e) {
      throw new IllegalStateException(WRONG_SIZE, e);
    }
    return out;
  }

  private static byte[] encoded(SharedEvent event, boolean prevKv) {
    return event.encoded(prevKv, WatchFrames::encode);
  }

  private static byte[] encode(Event event) {
    return ApiConverter.event(event).toByteArray();
  }
}
