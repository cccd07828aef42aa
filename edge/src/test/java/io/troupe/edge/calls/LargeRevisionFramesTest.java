package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.grpc.error.GrpcException;
import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.protocol.EventPieces;
import io.troupe.protocol.WatchReply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.stream.javadsl.Sink;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The frames of a revision that is read from history while it is sent. */
class LargeRevisionFramesTest {
  private static final ActorTestKit KIT = ActorTestKit.create();

  @AfterAll
  static void stop() {
    KIT.shutdownTestKit();
  }

  /** Events in pieces of a fixed size; after a number of reads, later reads find fewer events. */
  private static final class Pieces implements EventPieces {
    private final List<Event> events;
    private final int size;
    private int reads;
    private int compactedAfter = Integer.MAX_VALUE;

    Pieces(List<Event> events, int size) {
      this.events = events;
      this.size = size;
    }

    @Override
    public CompletionStage<Piece> read(int from) {
      int to = Math.min(events.size(), from + size);
      List<Event> found = new ArrayList<>();
      for (Event event : events.subList(from, to)) {
        found.add(reads >= compactedAfter ? new Event(event.type(), event.kv(), null) : event);
      }
      reads++;
      return CompletableFuture.completedFuture(new Piece(found, to == events.size() ? END : to));
    }
  }

  private static List<Event> deletions(int count, int valueBytes) {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Bytes key = Bytes.utf8("key " + i);
      KeyValue before = new KeyValue(key, 3, 4, 5, Bytes.wrap(new byte[valueBytes]), 6);
      events.add(Event.delete(key, 9, before));
    }
    return events;
  }

  private static List<WatchResponse> responses(Pieces pieces, boolean fragments) throws Exception {
    WatchFrames frames =
        new WatchFrames(revision -> ResponseHeader.newBuilder().setRevision(revision).build());
    WatchReply reply = new WatchReply.LargeRevision(7, 11, true, fragments, pieces);
    List<org.apache.pekko.util.ByteString> parts =
        frames
            .source(
                List.of(new WatchReply.Created(7, 8), reply, new WatchReply.Progress(7, 12)),
                MemoryBudget.UNLIMITED.share())
            .runWith(Sink.seq(), KIT.system())
            .toCompletableFuture()
            .join();
    ByteString all = ByteString.EMPTY;
    for (org.apache.pekko.util.ByteString part : parts) {
      all = all.concat(ByteString.copyFrom(part.toArrayUnsafe()));
    }
    List<WatchResponse> found = new ArrayList<>();
    byte[] bytes = all.toByteArray();
    int at = 0;
    while (at < bytes.length) {
      int length = (int) GrpcFrames.length(bytes, at);
      at += GrpcFrames.HEADER;
      found.add(WatchResponse.parseFrom(all.substring(at, at + length)));
      at += length;
    }
    assertThat(found.get(0).getCreated()).isTrue();
    assertThat(found.get(found.size() - 1).getHeader().getRevision()).isEqualTo(12);
    return found.subList(1, found.size() - 1);
  }

  private static List<io.troupe.grpc.api.mvcc.Event> encoded(List<Event> events) {
    return events.stream().map(ApiConverter::event).toList();
  }

  @ParameterizedTest
  @CsvSource({"10, 10, 3", "10, 100, 10", "6, 1000000, 1", "9, 1000000, 4"})
  void clientWithoutFragmentsGetsOneMessage_W6(int count, int valueBytes, int size)
      throws Exception {
    List<Event> events = deletions(count, valueBytes);
    Pieces pieces = new Pieces(events, size);
    List<WatchResponse> found = responses(pieces, false);
    assertThat(found).hasSize(1);
    assertThat(found.get(0).getEventsList()).isEqualTo(encoded(events));
    assertThat(found.get(0).getFragment()).isFalse();
    assertThat(found.get(0).getWatchId()).isEqualTo(7);
    assertThat(found.get(0).getHeader().getRevision()).isEqualTo(11);
  }

  @ParameterizedTest
  @CsvSource({"10, 3", "10, 10", "1, 1", "12, 4"})
  void clientWithFragmentsGetsOneForEachPiece_W17(int count, int size) throws Exception {
    List<Event> events = deletions(count, 10);
    List<WatchResponse> found = responses(new Pieces(events, size), true);
    assertThat(found).hasSize((count + size - 1) / size);
    List<io.troupe.grpc.api.mvcc.Event> joined = new ArrayList<>();
    for (int i = 0; i < found.size(); i++) {
      joined.addAll(found.get(i).getEventsList());
      assertThat(found.get(i).getFragment()).isEqualTo(i < found.size() - 1);
    }
    assertThat(joined).isEqualTo(encoded(events));
  }

  @Test
  void revisionWithoutEventsForTheWatcherSendsNothing() throws Exception {
    assertThat(responses(new Pieces(List.of(), 1), false)).isEmpty();
    assertThat(responses(new Pieces(List.of(), 1), true)).isEmpty();
  }

  @Test
  void streamFailsWhenMessageDiffersFromAnnouncedLength() {
    Pieces pieces = new Pieces(deletions(9, 1_000_000), 1);
    pieces.compactedAfter = 12;
    assertThatThrownBy(() -> responses(pieces, false))
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(GrpcException.class)
        .hasMessageContaining("compacted while it was sent");
  }
}
