package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.delete;
import static io.troupe.tests.conformance.Requests.deletePrefix;
import static io.troupe.tests.conformance.Requests.op;
import static io.troupe.tests.conformance.Requests.prefix;
import static io.troupe.tests.conformance.Requests.put;
import static io.troupe.tests.conformance.Requests.txn;
import static io.troupe.tests.conformance.Requests.watch;
import static io.troupe.tests.conformance.Requests.watchPrefix;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchCreateRequest.FilterType;
import io.troupe.grpc.api.WatchRequest;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.mvcc.Event;
import io.troupe.grpc.api.mvcc.Event.EventType;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.9: creation, events, cancellation. WatchProgressConformanceTest covers the rest. */
class WatchConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

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
  void idsCountFromZeroAndAreNotReused_W1() {
    assertThat(watch.create(watch("a")).getWatchId()).isEqualTo(0);
    assertThat(watch.create(watch("a")).getWatchId()).isEqualTo(1);
    watch.cancel(1);
    assertThat(watch.next().getCanceled()).isTrue();
    assertThat(watch.create(watch("a").setWatchId(3)).getWatchId()).isEqualTo(3);
    assertThat(watch.create(watch("a")).getWatchId()).isEqualTo(2);
    assertThat(watch.create(watch("a")).getWatchId()).isEqualTo(4);
    assertThat(watch.create(watch("a").setWatchId(-9)).getWatchId()).isEqualTo(-9);
  }

  @Test
  void idInUseIsRefused_W1() {
    watch.create(watch("a").setWatchId(7));
    WatchResponse refused = watch.create(watch("b").setWatchId(7));
    assertThat(refused.getCanceled()).isTrue();
    assertThat(refused.getWatchId()).isEqualTo(-1);
    assertThat(refused.getCancelReason())
        .isEqualTo("mvcc: duplicate watch ID provided on the WatchStream");
    assertThat(refused.getCompactRevision()).isZero();
    watch.cancel(7);
    assertThat(watch.next().getWatchId()).isEqualTo(7);
    assertThat(watch.create(watch("b").setWatchId(7)).getCanceled()).isFalse();
  }

  @Test
  void createdResponseComesFirstWithRevision_W2() {
    long revision = client.put(STORE.key("a"), "1").getHeader().getRevision();
    WatchResponse created = watch.create(watch(STORE.key("a")).setStartRevision(revision));
    assertThat(created.getHeader().getRevision()).isEqualTo(revision);
    assertThat(created.getHeader().getClusterId()).isNotZero();
    assertThat(created.getHeader().getMemberId()).isNotZero();
    assertThat(created.getCanceled()).isFalse();
    assertThat(watch.events(1).get(0).getKv().getModRevision()).isEqualTo(revision);
  }

  @Test
  void watchStartsAtCurrentPastOrFutureRevision_W3() {
    String key = STORE.key("a");
    long first = client.put(key, "1").getHeader().getRevision();
    long now = watch.create(watch(key)).getWatchId();
    long past = watch.create(watch(key).setStartRevision(first)).getWatchId();
    assertThat(watch.next(r -> r.getWatchId() == past).getEvents(0).getKv().getModRevision())
        .isEqualTo(first);
    long future = watch.create(watch(key).setStartRevision(first + 2)).getWatchId();

    client.put(key, "2");
    client.put(key, "3");
    try (WatchStream other = client.watch()) {
      other.create(watch(key).setStartRevision(first));
      assertThat(other.events(3))
          .extracting(event -> event.getKv().getModRevision())
          .containsExactly(first, first + 1, first + 2);
    }
    List<WatchResponse> responses = watch.untilEvents(5);
    assertThat(revisions(responses, now)).containsExactly(first + 1, first + 2);
    assertThat(revisions(responses, past)).containsExactly(first + 1, first + 2);
    assertThat(revisions(responses, future)).containsExactly(first + 2);
  }

  private static List<Long> revisions(List<WatchResponse> responses, long watchId) {
    return responses.stream()
        .filter(response -> response.getWatchId() == watchId)
        .flatMap(response -> response.getEventsList().stream())
        .map(event -> event.getKv().getModRevision())
        .toList();
  }

  @Test
  void negativeStartIsRefused_W4() {
    WatchResponse refused = watch.create(watch("a").setStartRevision(-1));
    assertThat(refused.getCanceled()).isTrue();
    assertThat(refused.getWatchId()).isEqualTo(-1);
    assertThat(refused.getCancelReason())
        .isEqualTo("etcdserver: mvcc: required revision has been compacted");
    assertThat(refused.getCompactRevision()).isZero();
  }

  @Test
  void emptyKeyAndZeroEndWatchEverything_W5() {
    watch.create(WatchCreateRequest.newBuilder().setRangeEnd(Requests.ZERO));
    client.put("\0 first", "1");
    client.put("~ last", "1");
    assertThat(watch.events(2))
        .extracting(event -> event.getKv().getKey())
        .containsExactly(bytes("\0 first"), bytes("~ last"));
  }

  @Test
  void eachRevisionIsOneResponse_W6() {
    watch.create(watchPrefix(STORE.key("")));
    client.put(STORE.key("a"), "1");
    client.txn(
        txn(
            op(put(STORE.key("a"), "2")),
            op(put(STORE.key("b"), "2")),
            op(put(STORE.key("c"), "2"))));
    client.delete(deletePrefix(STORE.key("")));
    List<WatchResponse> responses = watch.untilEvents(7);
    for (WatchResponse response : responses) {
      long last = response.getEvents(response.getEventsCount() - 1).getKv().getModRevision();
      assertThat(response.getHeader().getRevision()).as("W7").isGreaterThanOrEqualTo(last);
      long ofLast =
          response.getEventsList().stream()
              .filter(event -> event.getKv().getModRevision() == last)
              .count();
      assertThat(ofLast).isIn(1L, 3L);
    }
    assertThat(responses.stream().flatMap(r -> r.getEventsList().stream()))
        .extracting(event -> event.getKv().getModRevision())
        .isSorted();
  }

  @Test
  void headerOfLiveEventIsItsRevision_W7() {
    watch.create(watch(STORE.key("a")));
    for (int i = 0; i < 5; i++) {
      long revision = client.put(STORE.key("a"), "" + i).getHeader().getRevision();
      WatchResponse response = watch.next();
      assertThat(response.getHeader().getRevision()).isEqualTo(revision);
      assertThat(response.getHeader().getRaftTerm()).isPositive();
    }
  }

  @Test
  void catchUpHasNoGapAndNoDuplicate_W8() {
    long first = client.revision() + 1;
    for (int i = 0; i < 30; i++) {
      client.txn(
          txn(
              op(put(STORE.key("a"), "" + i)),
              op(put(STORE.key("b"), "" + i)),
              op(put(STORE.key("c"), "" + i))));
    }
    watch.create(watch(STORE.key("b")).setStartRevision(first));
    List<Event> past = watch.events(30);
    client.put(STORE.key("b"), "live");
    assertThat(past)
        .extracting(event -> event.getKv().getModRevision())
        .isEqualTo(LongStream.range(first, first + 30).boxed().toList());
    assertThat(watch.events(1).get(0).getKv().getModRevision()).isEqualTo(first + 30);
  }

  @Test
  void emptyRangesAreRefused_W9() {
    for (String end : List.of("b", "a")) {
      WatchResponse refused = watch.create(watch("b").setRangeEnd(bytes(end)));
      assertThat(refused.getCanceled()).isTrue();
      assertThat(refused.getWatchId()).isEqualTo(-1);
      assertThat(refused.getCancelReason()).isEqualTo("mvcc: watcher range is empty");
    }
    assertThat(watch.create(watch("b").setRangeEnd(Requests.ZERO)).getCanceled()).isFalse();
  }

  @Test
  void eventsHaveTypeAndRecord_W10() {
    long lease = client.grant(60).getID();
    String key = STORE.key("a");
    watch.create(watch(key));
    client.put(put(key, "1").setLease(lease));
    KeyValue record = client.record(key);
    long deleted = client.delete(delete(key)).getHeader().getRevision();

    List<Event> events = watch.events(2);
    assertThat(events.get(0))
        .isEqualTo(Event.newBuilder().setType(EventType.PUT).setKv(record).build());
    assertThat(events.get(1))
        .isEqualTo(
            Event.newBuilder()
                .setType(EventType.DELETE)
                .setKv(KeyValue.newBuilder().setKey(bytes(key)).setModRevision(deleted))
                .build());
  }

  @Test
  void revokingLeaseMakesDeleteEvents_W10() {
    long lease = client.grant(60).getID();
    client.put(put(STORE.key("b"), "1").setLease(lease));
    client.put(put(STORE.key("a"), "1").setLease(lease));
    watch.create(watchPrefix(STORE.key("")));
    client.revoke(lease);
    List<Event> events = watch.events(2);
    assertThat(events).extracting(Event::getType).containsOnly(EventType.DELETE);
    assertThat(events)
        .extracting(event -> event.getKv().getKey())
        .containsExactly(bytes(STORE.key("a")), bytes(STORE.key("b")));
  }

  @Test
  void prevKvOfChangesAndDeletions_W11() {
    String key = STORE.key("a");
    watch.create(watch(key).setPrevKv(true));
    client.put(key, "1");
    KeyValue one = client.record(key);
    client.put(key, "2");
    KeyValue two = client.record(key);
    client.delete(delete(key));

    List<Event> events = watch.events(3);
    assertThat(events.get(0).hasPrevKv()).isFalse();
    assertThat(events.get(1).getPrevKv()).isEqualTo(one);
    assertThat(events.get(2).getPrevKv()).isEqualTo(two);
  }

  @Test
  void compactedPrevKvIsAbsent_W11() {
    String key = STORE.key("a");
    client.put(key, "1");
    long second = client.put(key, "2").getHeader().getRevision();
    client.put(key, "3");
    client.compact(second);
    watch.create(watch(key).setPrevKv(true).setStartRevision(second));
    List<Event> events = watch.events(2);
    assertThat(events.get(0).hasPrevKv()).isFalse();
    assertThat(events.get(1).getPrevKv().getValue()).isEqualTo(bytes("2"));
  }

  @Test
  void cancelGetsExactlyOneResponse_W13() {
    String key = STORE.key("a");
    long id = watch.create(watch(key)).getWatchId();
    watch.cancel(id);
    WatchResponse canceled = watch.next();
    assertThat(canceled.getWatchId()).isEqualTo(id);
    assertThat(canceled.getCanceled()).isTrue();
    assertThat(canceled.getCreated()).isFalse();
    assertThat(canceled.getCompactRevision()).isZero();
    assertThat(canceled.getCancelReason()).isEmpty();
    client.put(key, "1");
    watch.cancel(id);
    watch.cancel(4711);
    watch.expectNothingBefore(client, STORE.key("other"));
  }

  @Test
  void filtersDropEvents_W14() {
    String key = STORE.key("a");
    long puts = watch.create(watch(key).addFilters(FilterType.NODELETE)).getWatchId();
    long deletes = watch.create(watch(key).addFilters(FilterType.NOPUT)).getWatchId();
    watch.create(watch(key).addFilters(FilterType.NOPUT).addFilters(FilterType.NODELETE));
    long unknown = watch.create(watch(key).addFiltersValue(9)).getWatchId();
    client.put(key, "1");
    client.delete(delete(key));

    List<WatchResponse> responses = watch.untilEvents(4);
    assertThat(types(responses, puts)).containsExactly(EventType.PUT);
    assertThat(types(responses, deletes)).containsExactly(EventType.DELETE);
    assertThat(types(responses, unknown)).containsExactly(EventType.PUT, EventType.DELETE);
    watch.expectNothingBefore(client, STORE.key("other"));
  }

  private static List<EventType> types(List<WatchResponse> responses, long watchId) {
    return responses.stream()
        .filter(response -> response.getWatchId() == watchId)
        .flatMap(response -> response.getEventsList().stream())
        .map(Event::getType)
        .toList();
  }

  @Test
  void largeRevisionIsSplitOnlyWithFragment_W17() {
    // two events of one revision, each with 700 kB now and 700 kB before
    for (int i = 0; i < 2; i++) {
      client.txn(
          txn(
              op(put(STORE.key("a"), "").setValue(Requests.filled(700_000))),
              op(put(STORE.key("b"), "").setValue(Requests.filled(700_000)))));
    }
    long revision = client.revision();
    WatchCreateRequest.Builder create =
        watchPrefix(STORE.key("")).setPrevKv(true).setStartRevision(revision);
    watch.create(create);
    WatchResponse whole = watch.next();
    assertThat(whole.getEventsCount()).isEqualTo(2);
    assertThat(whole.getFragment()).isFalse();

    try (WatchStream other = client.watch()) {
      long id = other.create(create.setFragment(true)).getWatchId();
      WatchResponse one = other.next();
      WatchResponse two = other.next();
      assertThat(one.getFragment()).isTrue();
      assertThat(two.getFragment()).isFalse();
      assertThat(List.of(one.getWatchId(), two.getWatchId())).containsOnly(id);
      assertThat(one.getHeader()).isEqualTo(two.getHeader());
      assertThat(List.of(one.getEventsCount(), two.getEventsCount())).containsOnly(1);
    }
  }

  @Test
  void emptyRequestIsIgnored_W19() {
    watch.send(WatchRequest.getDefaultInstance());
    assertThat(watch.create(watch(STORE.key("a"))).getWatchId()).isZero();
  }

  @Test
  void halfCloseLeavesStreamOpen_W19() {
    watch.create(watch(STORE.key("a")));
    watch.halfClose();
    for (int i = 0; i < 3; i++) {
      client.put(STORE.key("a"), "" + i);
      assertThat(watch.events(1).get(0).getKv().getValue()).isEqualTo(bytes("" + i));
    }
  }

  @Test
  void watchersOfOneStreamGetSeparateResponses_W21() {
    long one = watch.create(watch(STORE.key("a"))).getWatchId();
    long all = watch.create(watchPrefix(STORE.key(""))).getWatchId();
    long same = watch.create(watch(STORE.key("a"))).getWatchId();
    client.put(STORE.key("a"), "1");
    List<WatchResponse> responses = watch.untilEvents(3);
    assertThat(responses)
        .extracting(WatchResponse::getWatchId)
        .containsExactlyInAnyOrder(one, all, same);
    assertThat(client.range(prefix(STORE.key(""))).getCount()).isEqualTo(1);
  }
}
