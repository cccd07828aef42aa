package io.troupe.edge.calls;

import com.google.protobuf.CodedOutputStream;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.model.Event;
import io.troupe.model.MemoryBudget;
import io.troupe.model.SharedEvent;
import io.troupe.protocol.WatchReply;
import java.io.IOException;
import java.util.List;
import java.util.function.LongFunction;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * Encodes watch replies as frames. An event is encoded once for all its watchers. The fields around
 * its bytes are written by hand, because the generated class would encode each event again.
 */
final class WatchFrames {
  private static final int EVENT_TAG_BYTES = 1;

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

  /** All replies as one array, one frame each, in order. */
  private ByteString frames(List<WatchReply> replies) {
    WatchResponse[] messages = new WatchResponse[replies.size()];
    int[] sizes = new int[messages.length];
    int total = 0;
    for (int i = 0; i < messages.length; i++) {
      WatchReply reply = replies.get(i);
      messages[i] = message(reply);
      sizes[i] = messages[i].getSerializedSize();
      if (reply instanceof WatchReply.Events events) {
        sizes[i] += size(events);
      }
      total = Math.addExact(total, GrpcFrames.HEADER + sizes[i]);
    }
    byte[] out = new byte[total];
    int at = 0;
    for (int i = 0; i < messages.length; i++) {
      write(messages[i], replies.get(i), out, at, sizes[i]);
      at += GrpcFrames.HEADER + sizes[i];
    }
    return ByteString.fromArrayUnsafe(out);
  }

  /** The fields of a reply besides its events. */
  private WatchResponse message(WatchReply reply) {
    if (reply instanceof WatchReply.Events events) {
      return around(reply, events.fragment());
    }
    WatchResponse.Builder out =
        WatchResponse.newBuilder().setHeader(header(reply.revision())).setWatchId(reply.watchId());
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

  private ResponseHeader header(long revision) {
    return headers.apply(revision);
  }

  /** The fields of a response besides its events. */
  WatchResponse around(WatchReply reply, boolean fragment) {
    return WatchResponse.newBuilder()
        .setHeader(header(reply.revision()))
        .setWatchId(reply.watchId())
        .setFragment(fragment)
        .build();
  }

  /** The response that carries these events. */
  ByteString events(WatchReply.Events reply) {
    return frames(List.of(reply));
  }

  private static int size(WatchReply.Events reply) {
    int size = 0;
    for (SharedEvent event : reply.events()) {
      int length = encoded(event, reply.prevKv()).length;
      size += EVENT_TAG_BYTES + CodedOutputStream.computeUInt32SizeNoTag(length) + length;
    }
    return size;
  }

  private static void write(WatchResponse message, WatchReply reply, byte[] out, int at, int size) {
    GrpcFrames.putLength(out, at, size);
    CodedOutputStream target = CodedOutputStream.newInstance(out, at + GrpcFrames.HEADER, size);
    try {
      message.writeTo(target);
      if (reply instanceof WatchReply.Events events) {
        for (SharedEvent event : events.events()) {
          target.writeByteArray(WatchResponse.EVENTS_FIELD_NUMBER, encoded(event, events.prevKv()));
        }
      }
      target.checkNoSpaceLeft();
    } catch (IOException e) {
      throw new IllegalStateException("array of the exact size is too small", e);
    }
  }

  private static byte[] encoded(SharedEvent event, boolean prevKv) {
    return event.encoded(prevKv, WatchFrames::encode);
  }

  private static byte[] encode(Event event) {
    return ApiConverter.event(event).toByteArray();
  }
}
