package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import io.troupe.protocol.WatchReply;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.stream.javadsl.Sink;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Frames have the bytes of the generated class. */
class WatchFramesTest {
  private static final ActorTestKit KIT = ActorTestKit.create();

  @AfterAll
  static void stop() {
    KIT.shutdownTestKit();
  }

  private static ResponseHeader header(long revision) {
    return ResponseHeader.newBuilder()
        .setClusterId(-5)
        .setMemberId(Long.MIN_VALUE)
        .setRevision(revision)
        .setRaftTerm(3)
        .build();
  }

  private static WatchResponse.Builder message(long revision, long watchId) {
    return WatchResponse.newBuilder().setHeader(header(revision)).setWatchId(watchId);
  }

  private static List<Event> events() {
    List<Event> events = new ArrayList<>();
    for (int revision = 7; revision < 10; revision++) {
      Bytes key = Bytes.utf8("key " + revision);
      KeyValue prev = new KeyValue(key, 3, 4, 5, Bytes.wrap(new byte[300]), 6);
      events.add(
          revision == 8
              ? Event.delete(key, revision, prev)
              : new Event(
                  Event.Type.PUT,
                  new KeyValue(key, 3, revision, 6, Bytes.wrap(new byte[revision]), 0),
                  prev));
    }
    return events;
  }

  private static List<SharedEvent> shared(List<Event> events) {
    return events.stream().map(SharedEvent::new).toList();
  }

  /** The messages of the frames. */
  private static List<byte[]> sent(List<WatchReply> replies) {
    byte[] all =
        new WatchFrames(WatchFramesTest::header)
            .source(replies, MemoryBudget.UNLIMITED.share())
            .runWith(Sink.head(), KIT.system())
            .toCompletableFuture()
            .join()
            .toArrayUnsafe();
    List<byte[]> found = new ArrayList<>();
    int at = 0;
    while (at < all.length) {
      int length = (int) GrpcFrames.length(all, at);
      at += GrpcFrames.HEADER;
      byte[] message = new byte[length];
      System.arraycopy(all, at, message, 0, length);
      found.add(message);
      at += length;
    }
    return found;
  }

  @Test
  void eachReplyIsOneMessageWithHeaderOfItsRevision() {
    List<Event> events = events();
    WatchResponse.Builder withPrev = message(9, 0);
    WatchResponse.Builder withoutPrev = message(10, 300).setFragment(true);
    for (Event event : events) {
      withPrev.addEvents(ApiConverter.event(event));
      withoutPrev.addEvents(ApiConverter.event(new Event(event.type(), event.kv(), null)));
    }
    for (SharedEvents all :
        List.of(SharedEvents.ofOne(shared(events)), SharedEvents.ofSeveral(shared(events)))) {
      List<byte[]> sent =
          sent(
              List.of(
                  new WatchReply.Created(0, 8),
                  new WatchReply.Events(0, 9, all, true, false),
                  new WatchReply.Events(300, 10, all, false, true),
                  new WatchReply.Events(1, 9, all, true, false),
                  new WatchReply.Progress(WatchReply.NO_WATCHER, 9),
                  new WatchReply.CreateFailed(9, "no"),
                  new WatchReply.Canceled(1, 0, 4, "")));
      assertThat(sent)
          .containsExactly(
              message(8, 0).setCreated(true).build().toByteArray(),
              withPrev.build().toByteArray(),
              withoutPrev.build().toByteArray(),
              withPrev.setWatchId(1).build().toByteArray(),
              message(9, -1).build().toByteArray(),
              message(9, -1)
                  .setCreated(true)
                  .setCanceled(true)
                  .setCancelReason("no")
                  .build()
                  .toByteArray(),
              message(0, 1).setCanceled(true).setCompactRevision(4).build().toByteArray());
      withPrev.setWatchId(0);
    }
  }

  @Test
  void onlyEventsOfSeveralWatchersKeepTheirEncodedForm() {
    int[] encoded = {0};
    SharedEvents.Encoder encoder =
        (events, prevKv) -> {
          encoded[0]++;
          return new byte[0];
        };
    SharedEvents several = SharedEvents.ofSeveral(shared(events()));
    several.encoded(true, encoder);
    several.encoded(false, encoder);
    several.encoded(true, encoder);
    several.encoded(false, encoder);
    assertThat(encoded[0]).isEqualTo(2);
    SharedEvents one = SharedEvents.ofOne(shared(events()));
    one.encoded(true, encoder);
    one.encoded(true, encoder);
    assertThat(encoded[0]).isEqualTo(4);
  }
}
