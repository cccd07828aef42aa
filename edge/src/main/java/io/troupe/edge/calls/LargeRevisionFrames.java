package io.troupe.edge.calls;

import com.google.protobuf.CodedOutputStream;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Event;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import io.troupe.protocol.EventPieces;
import io.troupe.protocol.EventPieces.Piece;
import io.troupe.protocol.WatchReply;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * The frames of a revision that is too large to be held in memory. A client that accepts fragments
 * gets one for each piece (W17). Any other client gets the revision in one message (W6): a first
 * pass through the pieces computes its length, a second pass sends it, so the memory is that of one
 * piece.
 */
final class LargeRevisionFrames {
  /** Limit of the first pass; a smaller message is built from the events of that pass. */
  private static final long MAX_HELD = 512 << 10;

  private static final int EVENT_TAG_BYTES = 1;

  /** Position of a completed source. */
  private static final int DONE = -1;

  private final WatchFrames frames;
  private final WatchReply.LargeRevision reply;

  LargeRevisionFrames(WatchFrames frames, WatchReply.LargeRevision reply) {
    this.frames = frames;
    this.reply = reply;
  }

  /** The frames; none if no event passes the watcher's filters. */
  Source<ByteString, NotUsed> source() {
    return reply.fragments()
        ? fragments()
        : Source.lazySource(
                () ->
                    Source.completionStageSource(
                        measure(0, new Measured()).thenApply(this::message)))
            .mapMaterializedValue(ignored -> NotUsed.getInstance());
  }

  // ---- fragments ----

  /**
   * Each piece waits for the next one with events, which decides whether it is the last fragment.
   */
  private Source<ByteString, NotUsed> fragments() {
    return Source.unfoldAsync(
            new Fragment(List.of(), 0),
            held -> {
              if (held.next != DONE) {
                return nextEvents(held.next)
                    .thenApply(found -> Optional.of(Pair.create(found, held.frame(found))));
              }
              Fragment none = new Fragment(List.of(), DONE);
              return CompletableFuture.completedFuture(
                  held.events.isEmpty()
                      ? Optional.<Pair<Fragment, ByteString>>empty()
                      : Optional.of(Pair.create(none, held.frame(none))));
            })
        .filter(frame -> !frame.isEmpty());
  }

  /** Events that are not sent yet, and the position of the next piece. */
  private final class Fragment {
    private final List<SharedEvent> events;
    private final int next;

    Fragment(List<SharedEvent> events, int next) {
      this.events = events;
      this.next = next;
    }

    ByteString frame(Fragment following) {
      return events.isEmpty()
          ? ByteString.emptyByteString()
          : response(events, !following.events.isEmpty());
    }
  }

  /** The next piece with events, or an empty one at the end. */
  private CompletionStage<Fragment> nextEvents(int from) {
    return reply
        .pieces()
        .read(from)
        .thenCompose(
            piece -> {
              if (piece.events().isEmpty() && piece.next() != EventPieces.END) {
                return nextEvents(piece.next());
              }
              int next = piece.next() == EventPieces.END ? DONE : piece.next();
              return CompletableFuture.completedFuture(new Fragment(shared(piece.events()), next));
            });
  }

  private ByteString response(List<SharedEvent> events, boolean fragment) {
    return frames.events(
        new WatchReply.Events(
            reply.watchId(),
            reply.revision(),
            SharedEvents.ofOne(events),
            reply.prevKv(),
            fragment));
  }

  private static List<SharedEvent> shared(List<Event> events) {
    List<SharedEvent> shared = new ArrayList<>(events.size());
    events.forEach(event -> shared.add(new SharedEvent(event)));
    return shared;
  }

  // ---- one message ----

  /** The result of the first pass. */
  private static final class Measured {
    private final List<Event> events = new ArrayList<>();
    private boolean held = true;
    private long bytes;

    void add(List<byte[]> encoded, List<Event> piece) {
      for (byte[] event : encoded) {
        bytes += fieldSize(event.length);
      }
      held &= bytes <= MAX_HELD;
      if (held) {
        events.addAll(piece);
      } else {
        events.clear();
      }
    }
  }

  private CompletionStage<Measured> measure(int from, Measured soFar) {
    return reply
        .pieces()
        .read(from)
        .thenCompose(
            piece -> {
              soFar.add(encoded(piece), piece.events());
              return piece.next() == EventPieces.END
                  ? CompletableFuture.completedFuture(soFar)
                  : measure(piece.next(), soFar);
            });
  }

  private Source<ByteString, NotUsed> message(Measured measured) {
    if (measured.bytes == 0) {
      return Source.empty();
    }
    if (measured.held) {
      return Source.single(response(shared(measured.events), false));
    }
    byte[] around = frames.around(reply);
    long size = around.length + measured.bytes;
    if (size > Integer.MAX_VALUE) {
      // The text and the limit of the gRPC library of etcd.
      throw new GrpcException(
          GrpcStatus.RESOURCE_EXHAUSTED,
          "grpc: trying to send message larger than max (" + size + " vs. 2147483647)");
    }
    byte[] start = new byte[GrpcFrames.HEADER + around.length];
    GrpcFrames.putLength(start, 0, (int) size);
    System.arraycopy(around, 0, start, GrpcFrames.HEADER, around.length);
    long[] left = {measured.bytes};
    Source<ByteString, NotUsed> events =
        Source.unfoldAsync(
            0,
            from ->
                from == DONE
                    ? CompletableFuture.completedFuture(Optional.<Pair<Integer, ByteString>>empty())
                    : reply.pieces().read(from).thenApply(piece -> Optional.of(sent(piece, left))));
    return Source.single(ByteString.fromArrayUnsafe(start)).concat(events);
  }

  private Pair<Integer, ByteString> sent(Piece piece, long[] left) {
    ByteString fields = fields(encoded(piece));
    left[0] -= fields.size();
    boolean last = piece.next() == EventPieces.END;
    if (left[0] < 0 || (last && left[0] != 0)) {
      // A compaction removed previous records between the two passes; the client resumes.
      throw new GrpcException(
          GrpcStatus.UNAVAILABLE, "troupe: a revision was compacted while it was sent");
    }
    return Pair.create(last ? DONE : piece.next(), fields);
  }

  private List<byte[]> encoded(Piece piece) {
    List<byte[]> encoded = new ArrayList<>(piece.events().size());
    for (Event event : piece.events()) {
      encoded.add(ApiConverter.event(event).toByteArray());
    }
    return encoded;
  }

  private static int fieldSize(int length) {
    return EVENT_TAG_BYTES + CodedOutputStream.computeUInt32SizeNoTag(length) + length;
  }

  private static ByteString fields(List<byte[]> events) {
    int size = 0;
    for (byte[] event : events) {
      size += fieldSize(event.length);
    }
    byte[] out = new byte[size];
    CodedOutputStream target = CodedOutputStream.newInstance(out);
    try {
      for (byte[] event : events) {
        target.writeByteArray(WatchResponse.EVENTS_FIELD_NUMBER, event);
      }
      target.checkNoSpaceLeft();
    } catch (IOException e) {
      throw new IllegalStateException("array of the exact size is too small", e);
    }
    return ByteString.fromArrayUnsafe(out);
  }
}
