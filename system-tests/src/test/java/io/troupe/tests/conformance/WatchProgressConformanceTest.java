package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.put;
import static io.troupe.tests.conformance.Requests.watch;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.mvcc.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.9: progress, compaction, long catch-up. */
class WatchProgressConformanceTest {
  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create().with("watch-progress-notify-interval", "100 ms");

  private final ApiClient client = STORE.client();
  private WatchStream watch = client.watch();

  @BeforeEach
  void open() {
    watch.close();
    watch = client.watch();
  }

  @AfterEach
  void close() {
    watch.close();
  }

  @Test
  void responseHasAtMostThousandRevisions_W8() throws Exception {
    long first = client.revision() + 1;
    int count = 2500;
    List<Future<PutResponse>> puts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      PutRequest request = put(STORE.key("a"), "" + i).build();
      puts.add(
          ClientCalls.futureUnaryCall(
              client.channel().newCall(Api.PUT, CallOptions.DEFAULT), request));
    }
    for (Future<PutResponse> put : puts) {
      put.get();
    }
    watch.create(watch(STORE.key("a")).setStartRevision(first));

    List<WatchResponse> responses = watch.untilEvents(count);
    assertThat(responses).allMatch(response -> response.getEventsCount() <= 1000);
    assertThat(responses.stream().flatMap(response -> response.getEventsList().stream()))
        .extracting(event -> event.getKv().getModRevision())
        .isEqualTo(LongStream.range(first, first + count).boxed().toList());
    // W7: while catching up the header is the store's revision
    assertThat(responses.get(0).getHeader().getRevision()).isEqualTo(first + count - 1);
  }

  @Test
  void watcherBelowCompactedRevisionIsCanceled_W12() {
    String key = STORE.key("a");
    long first = client.put(key, "1").getHeader().getRevision();
    client.put(key, "2");
    long third = client.put(key, "3").getHeader().getRevision();
    client.compact(third);

    WatchResponse created = watch.create(watch(key).setStartRevision(first));
    assertThat(created.getCanceled()).isFalse();
    WatchResponse canceled = watch.next();
    assertThat(canceled.getWatchId()).isEqualTo(created.getWatchId());
    assertThat(canceled.getCanceled()).isTrue();
    assertThat(canceled.getCreated()).isFalse();
    assertThat(canceled.getCompactRevision()).isEqualTo(third);
    assertThat(canceled.getCancelReason()).isEmpty();
    assertThat(canceled.getHeader().getRevision()).isZero();
    assertThat(canceled.getEventsCount()).isZero();
    assertThat(watch.create(watch(key).setStartRevision(third)).getCanceled()).isFalse();
    assertThat(watch.events(1).get(0).getKv().getModRevision()).isEqualTo(third);
  }

  @Test
  void idStaysReservedUntilCancel_W12() {
    long first = client.put(STORE.key("a"), "1").getHeader().getRevision();
    long second = client.put(STORE.key("a"), "2").getHeader().getRevision();
    client.compact(second);
    watch.create(watch(STORE.key("a")).setStartRevision(first).setWatchId(5));
    assertThat(watch.next().getCompactRevision()).isEqualTo(second);

    WatchResponse again = watch.create(watch(STORE.key("a")).setWatchId(5));
    assertThat(again.getCancelReason())
        .isEqualTo("mvcc: duplicate watch ID provided on the WatchStream");
    watch.cancel(5);
    WatchResponse canceled = watch.next();
    assertThat(canceled.getWatchId()).isEqualTo(5);
    assertThat(canceled.getCanceled()).isTrue();
    assertThat(watch.create(watch(STORE.key("a")).setWatchId(5)).getCanceled()).isFalse();
  }

  @Test
  void idleWatcherGetsProgress_W15() {
    client.put(STORE.key("other"), "1");
    long id = watch.create(watch(STORE.key("a")).setProgressNotify(true)).getWatchId();
    watch.create(watch(STORE.key("b")));
    WatchResponse notice = watch.next();
    assertThat(notice.getWatchId()).isEqualTo(id);
    assertThat(notice.getEventsCount()).isZero();
    assertThat(notice.getCreated()).isFalse();
    assertThat(notice.getCanceled()).isFalse();
    assertThat(notice.getHeader().getRevision()).isEqualTo(client.revision());

    // the next notice never runs ahead of events
    long revision = client.put(STORE.key("a"), "1").getHeader().getRevision();
    WatchResponse response = watch.next();
    while (response.getEventsCount() == 0) {
      assertThat(response.getHeader().getRevision()).isLessThan(revision);
      response = watch.next();
    }
    assertThat(response.getEvents(0).getKv().getModRevision()).isEqualTo(revision);
    assertThat(watch.next().getHeader().getRevision()).isEqualTo(revision);
  }

  @Test
  void futureWatcherGetsNoProgress_W15() {
    long revision = client.revision();
    watch.create(watch(STORE.key("a")).setProgressNotify(true).setStartRevision(revision + 1000));
    long id = watch.create(watch(STORE.key("b")).setProgressNotify(true)).getWatchId();
    for (int i = 0; i < 3; i++) {
      assertThat(watch.next().getWatchId()).isEqualTo(id);
    }
  }

  @Test
  void progressOnRequestCoversWholeStream_W16() {
    watch.create(watch(STORE.key("a")));
    long revision = client.put(STORE.key("other"), "1").getHeader().getRevision();
    WatchResponse progress = askUntilAnswered();
    assertThat(progress.getWatchId()).isEqualTo(-1);
    assertThat(progress.getEventsCount()).isZero();
    assertThat(progress.getCreated()).isFalse();
    assertThat(progress.getHeader().getRevision()).isEqualTo(revision);
  }

  /** The response may be delayed while a watcher is not in sync (W16): repeat the request. */
  private WatchResponse askUntilAnswered() {
    try (WatchStream clock = client.watch()) {
      // the notifications of a second stream set the interval
      clock.create(watch(STORE.key("clock")).setProgressNotify(true));
      watch.requestProgress();
      java.util.Optional<WatchResponse> answer = watch.poll();
      while (answer.isEmpty()) {
        clock.next();
        answer = watch.poll();
        if (answer.isEmpty()) {
          watch.requestProgress();
        }
      }
      return answer.get();
    }
  }

  @Test
  void progressIsOrderedWithEvents_W16() {
    watch.create(watch(STORE.key("a")));
    for (int i = 0; i < 20; i++) {
      long revision = client.put(STORE.key("a"), "" + i).getHeader().getRevision();
      watch.requestProgress();
      Event event = watch.next(response -> response.getEventsCount() > 0).getEvents(0);
      assertThat(event.getKv().getModRevision()).isEqualTo(revision);
      assertThat(event.getKv().getValue()).isEqualTo(bytes("" + i));
    }
  }

  @Test
  void noProgressWithoutWatchersOrForFutureWatcher_W16() {
    watch.requestProgress();
    watch.create(watch(STORE.key("a")).setStartRevision(client.revision() + 1000).setWatchId(8));
    watch.requestProgress();
    watch.expectNothingBefore(client, STORE.key("mark"));
  }
}
