package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.delete;
import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.prefix;
import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.Status.Code;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeRequest.SortOrder;
import io.troupe.grpc.api.RangeRequest.SortTarget;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RangeStreamResponse;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Sections 2.3 and 2.4: Range and RangeStream. */
class RangeConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final ApiClient client = STORE.client();

  /** Keys 0..count-1 in order, with values in reverse order. */
  private void fill(int count) {
    for (int i = 0; i < count; i++) {
      client.put(STORE.key("" + i), "" + (9 - i % 10));
    }
  }

  private RangeRequest.Builder all() {
    return prefix(STORE.key(""));
  }

  private List<String> names(RangeResponse response) {
    int skip = bytes(STORE.key("")).size();
    return response.getKvsList().stream()
        .map(kv -> kv.getKey().substring(skip).toStringUtf8())
        .toList();
  }

  @Test
  void emptyKeyIsRefused_G1() {
    client.refused(
        Api.RANGE,
        RangeRequest.getDefaultInstance(),
        Code.INVALID_ARGUMENT,
        "etcdserver: key is not provided");
  }

  @Test
  void unknownSortOptionsAreRefused_G1() {
    STORE.needs37();
    String text = "etcdserver: invalid sort option";
    client.refused(Api.RANGE, get("a").setSortOrderValue(3).build(), Code.INVALID_ARGUMENT, text);
    client.refused(Api.RANGE, get("a").setSortTargetValue(5).build(), Code.INVALID_ARGUMENT, text);
    client.refused(Api.RANGE, get("a").setSortOrderValue(-1).build(), Code.INVALID_ARGUMENT, text);
  }

  @Test
  void negativePastCurrentAndFutureRevisions_G2() {
    long first = client.put(STORE.key("a"), "1").getHeader().getRevision();
    client.put(STORE.key("a"), "2");

    assertThat(client.range(get(STORE.key("a")).setRevision(-7)).getKvs(0).getValue())
        .isEqualTo(bytes("2"));
    assertThat(client.range(get(STORE.key("a")).setRevision(first)).getKvs(0).getValue())
        .isEqualTo(bytes("1"));
    assertThat(client.range(get(STORE.key("a")).setRevision(first - 1)).getCount()).isZero();
    client.refused(
        Api.RANGE,
        get(STORE.key("a")).setRevision(first + 2).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision is a future revision");
  }

  @Test
  void compactedRevisionItselfIsStillReadable_G2() {
    long first = client.put(STORE.key("a"), "1").getHeader().getRevision();
    client.put(STORE.key("a"), "2");
    client.put(STORE.key("a"), "3");
    client.compact(first + 1);

    assertThat(client.range(get(STORE.key("a")).setRevision(first + 1)).getKvs(0).getValue())
        .isEqualTo(bytes("2"));
    client.refused(
        Api.RANGE,
        get(STORE.key("a")).setRevision(first).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision has been compacted");
  }

  @Test
  void limitTruncatesAndSetsMore_G3() {
    fill(5);
    RangeResponse cut = client.range(all().setLimit(3));
    assertThat(names(cut)).containsExactly("0", "1", "2");
    assertThat(cut.getMore()).isTrue();
    RangeResponse exact = client.range(all().setLimit(5));
    assertThat(exact.getKvsCount()).isEqualTo(5);
    assertThat(exact.getMore()).isFalse();
    assertThat(client.range(all().setLimit(-2)).getKvsCount()).isEqualTo(5);
    assertThat(client.range(all().setLimit(2).setCountOnly(true)).getMore()).isFalse();
  }

  @Test
  void countIgnoresLimitAndFilters_G4() {
    fill(10);
    RangeResponse limited = client.range(all().setLimit(3));
    assertThat(limited.getKvsCount()).isEqualTo(3);
    assertThat(limited.getCount()).isEqualTo(10);
    long last = client.record(STORE.key("9")).getModRevision();
    RangeResponse filtered = client.range(all().setMinModRevision(last));
    assertThat(names(filtered)).containsExactly("9");
    assertThat(filtered.getCount()).isEqualTo(10);
  }

  @Test
  void countIsTakenAtRevision_G4() {
    long first = client.put(STORE.key("a"), "1").getHeader().getRevision();
    client.put(STORE.key("b"), "1");
    client.delete(delete(STORE.key("a")));
    assertThat(client.range(all().setRevision(first)).getCount()).isEqualTo(1);
    assertThat(client.range(all().setRevision(first + 1)).getCount()).isEqualTo(2);
    assertThat(client.range(all().setRevision(first + 1).setLimit(1)).getCount()).isEqualTo(2);
    assertThat(client.range(all()).getCount()).isEqualTo(1);
  }

  @Test
  void countOnlyHasNoRecords_G5() {
    fill(4);
    RangeResponse counted =
        client.range(all().setCountOnly(true).setLimit(1).setMinModRevision(Long.MAX_VALUE));
    assertThat(counted.getKvsCount()).isZero();
    assertThat(counted.getCount()).isEqualTo(4);
    assertThat(counted.getMore()).isFalse();
  }

  @Test
  void keysOnlyHasNoValues_G6() {
    fill(2);
    RangeResponse keys = client.range(all().setKeysOnly(true));
    assertThat(keys.getKvsList()).extracting(KeyValue::getValue).containsOnly(ByteString.EMPTY);
    KeyValue full = client.record(STORE.key("0"));
    assertThat(keys.getKvs(0)).isEqualTo(full.toBuilder().clearValue().build());
  }

  @Test
  void keysOnlyHidesLeaseUnlessSortedByValue_G6() {
    STORE.needs37();
    long lease = client.grant(60).getID();
    client.put(put(STORE.key("a"), "2").setLease(lease));
    client.put(put(STORE.key("b"), "1").setLease(lease));

    assertThat(client.range(all().setKeysOnly(true)).getKvsList())
        .extracting(KeyValue::getLease)
        .containsExactly(0L, 0L);
    RangeResponse byValue = client.range(all().setKeysOnly(true).setSortTarget(SortTarget.VALUE));
    assertThat(names(byValue)).containsExactly("b", "a");
    assertThat(byValue.getKvsList()).extracting(KeyValue::getLease).containsOnly(lease);
    assertThat(byValue.getKvsList()).allMatch(kv -> kv.getValue().isEmpty());
  }

  @Test
  void revisionFiltersAreInclusive_G7() {
    fill(5);
    long r1 = client.record(STORE.key("1")).getModRevision();
    long r3 = client.record(STORE.key("3")).getModRevision();
    assertThat(names(client.range(all().setMinModRevision(r1).setMaxModRevision(r3))))
        .containsExactly("1", "2", "3");
    assertThat(names(client.range(all().setMinCreateRevision(r3)))).containsExactly("3", "4");
    assertThat(names(client.range(all().setMaxCreateRevision(r1)))).containsExactly("0", "1");
  }

  @Test
  void filtersApplyBeforeLimit_G7() {
    fill(5);
    long r3 = client.record(STORE.key("3")).getModRevision();
    RangeResponse one = client.range(all().setMinModRevision(r3).setLimit(1));
    assertThat(names(one)).containsExactly("3");
    assertThat(one.getMore()).isTrue();
    RangeResponse both = client.range(all().setMinModRevision(r3).setLimit(2));
    assertThat(names(both)).containsExactly("3", "4");
    assertThat(both.getMore()).isFalse();
  }

  static Stream<Arguments> orders() {
    return Stream.of(
        Arguments.of(SortOrder.NONE, SortTarget.KEY, 0, "a,b,c"),
        Arguments.of(SortOrder.ASCEND, SortTarget.KEY, 2, "a,b"),
        Arguments.of(SortOrder.DESCEND, SortTarget.KEY, 2, "c,b"),
        Arguments.of(SortOrder.ASCEND, SortTarget.VALUE, 0, "c,b,a"),
        Arguments.of(SortOrder.ASCEND, SortTarget.VALUE, 1, "c"),
        Arguments.of(SortOrder.DESCEND, SortTarget.VALUE, 1, "a"),
        Arguments.of(SortOrder.ASCEND, SortTarget.VERSION, 0, "b,a,c"),
        Arguments.of(SortOrder.DESCEND, SortTarget.VERSION, 2, "c,a"),
        Arguments.of(SortOrder.ASCEND, SortTarget.CREATE, 0, "c,a,b"),
        Arguments.of(SortOrder.DESCEND, SortTarget.MOD, 0, "c,a,b"),
        // The quirk: without a sort order the limit applies in key order first, at limit + 1.
        Arguments.of(SortOrder.NONE, SortTarget.VALUE, 0, "c,b,a"),
        Arguments.of(SortOrder.NONE, SortTarget.VALUE, 1, "b"),
        Arguments.of(SortOrder.NONE, SortTarget.CREATE, 1, "a"));
  }

  @ParameterizedTest(name = "G8 {0} {1} limit {2}: {3}")
  @MethodSource("orders")
  void resultsAreSorted_G8(SortOrder order, SortTarget target, int limit, String expected) {
    // create order c a b; versions b=1 a=2 c=3; mod order b a c; values c < b < a, unsigned (G9)
    client.put(STORE.key("c"), "x");
    client.put(STORE.key("a"), "x");
    client.put(PutRequest.newBuilder().setKey(bytes(STORE.key("b"))).setValue(bytes("y")));
    client.put(
        PutRequest.newBuilder()
            .setKey(bytes(STORE.key("a")))
            .setValue(ByteString.copyFrom(new byte[] {(byte) 0x80})));
    client.put(STORE.key("c"), "x");
    client.put(STORE.key("c"), "x");

    RangeResponse sorted =
        client.range(all().setSortOrder(order).setSortTarget(target).setLimit(limit));
    List<String> names = List.of(expected.split(",", -1));
    assertThat(names(sorted)).isEqualTo(names);
    assertThat(sorted.getMore()).isEqualTo(names.size() < 3);
    assertThat(sorted.getCount()).isEqualTo(3);
  }

  @Test
  void ascendingKeyQuirkNeedsNoRevisionFilter_G8() {
    for (String key : List.of("a", "b", "c")) {
      client.put(STORE.key(key), "" + (char) ('z' - key.charAt(0) + 'a'));
    }
    RangeResponse sorted =
        client.range(all().setSortTarget(SortTarget.VALUE).setLimit(1).setMinModRevision(1));
    assertThat(names(sorted)).containsExactly("c");
  }

  @Test
  void notFoundIsNoError_G10() {
    RangeResponse none = client.get(STORE.key("none"));
    assertThat(none.getKvsCount()).isZero();
    assertThat(none.getCount()).isZero();
    assertThat(none.getMore()).isFalse();
  }

  @Test
  void responsesHaveNoSizeLimit_G13() {
    for (int i = 0; i < 8; i++) {
      client.put(
          PutRequest.newBuilder()
              .setKey(bytes(STORE.key("" + i)))
              .setValue(Requests.filled(1_000_000)));
    }
    assertThat(client.range(all()).getSerializedSize()).isGreaterThan(8_000_000);
  }

  @Test
  void rangeStreamValidatesLikeRange_GS1() {
    STORE.needs37();
    client.refused(
        Api.RANGE_STREAM,
        RangeRequest.getDefaultInstance(),
        Code.INVALID_ARGUMENT,
        "etcdserver: key is not provided");
    client.refused(
        Api.RANGE_STREAM,
        all().setSortOrder(SortOrder.DESCEND).build(),
        Code.UNIMPLEMENTED,
        "RangeStream does not support custom sort orders");
    client.refused(
        Api.RANGE_STREAM,
        all().setSortOrder(SortOrder.ASCEND).setSortTarget(SortTarget.MOD).build(),
        Code.UNIMPLEMENTED,
        "RangeStream does not support custom sort orders");
    client.refused(
        Api.RANGE_STREAM,
        all().setMinCreateRevision(1).build(),
        Code.UNIMPLEMENTED,
        "RangeStream does not support revision filters");
    client.refused(
        Api.RANGE_STREAM,
        all().setRevision(Long.MAX_VALUE).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision is a future revision");
  }

  static Stream<Arguments> streamed() {
    return Stream.of(
        Arguments.of("all", 0, false),
        Arguments.of("limit inside the first chunk", 7, false),
        Arguments.of("limit in a later chunk", 31, false),
        Arguments.of("limit equal to the count", 60, false),
        Arguments.of("limit above the count", 100, false),
        Arguments.of("negative limit", -1, false),
        Arguments.of("keys only", 0, true));
  }

  @ParameterizedTest(name = "GS4 {0}")
  @MethodSource("streamed")
  void chunksMergeToUnaryResponse_GS4(String what, int limit, boolean keysOnly) {
    STORE.needs37();
    IntStream.range(0, 60).forEach(i -> client.put(STORE.key("%02d".formatted(i)), "value " + i));
    RangeRequest.Builder request = all().setLimit(limit).setKeysOnly(keysOnly);

    List<RangeStreamResponse> chunks = client.rangeStream(request);

    assertThat(merge(chunks)).as(what).isEqualTo(client.range(request));
    for (RangeStreamResponse chunk : chunks.subList(0, chunks.size() - 1)) {
      // GS2: only records before the last chunk
      assertThat(chunk.getRangeResponse().hasHeader()).isFalse();
      assertThat(chunk.getRangeResponse().getCount()).isZero();
      assertThat(chunk.getRangeResponse().getMore()).isFalse();
    }
  }

  private static RangeResponse merge(List<RangeStreamResponse> chunks) {
    RangeResponse.Builder merged = RangeResponse.newBuilder();
    chunks.forEach(chunk -> merged.mergeFrom(chunk.getRangeResponse()));
    return merged.build();
  }

  @Test
  void allChunksHaveOneRevision_GS3() {
    STORE.needs37();
    IntStream.range(0, 30).forEach(i -> client.put(STORE.key("%02d".formatted(i)), "old"));
    long pinned = client.revision();
    IntStream.range(0, 30).forEach(i -> client.put(STORE.key("%02d".formatted(i)), "new"));

    RangeResponse merged = merge(client.rangeStream(all().setRevision(pinned)));
    assertThat(merged.getKvsList()).hasSize(30).allMatch(kv -> kv.getValue().equals(bytes("old")));
    assertThat(merged.getHeader().getRevision()).isEqualTo(pinned + 30);
  }

  @Test
  void countOnlyStreamIsOneMessage_GS5() {
    STORE.needs37();
    fill(3);
    List<RangeStreamResponse> messages = client.rangeStream(all().setCountOnly(true));
    assertThat(messages).hasSize(1);
    assertThat(messages.get(0).getRangeResponse().getCount()).isEqualTo(3);
    assertThat(messages.get(0).getRangeResponse().getKvsCount()).isZero();
    assertThat(messages.get(0).getRangeResponse().getHeader().getRevision())
        .isEqualTo(client.revision());
  }

  @Test
  void compactedRevisionIsRefused_GS6() {
    STORE.needs37();
    long first = client.put(STORE.key("a"), "1").getHeader().getRevision();
    client.put(STORE.key("a"), "2");
    client.compact(first + 1);
    client.refused(
        Api.RANGE_STREAM,
        all().setRevision(first).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision has been compacted");
  }

  @Test
  void negativeLimitIsOneMessage_GS7() {
    STORE.needs37();
    fill(25);
    assertThat(client.rangeStream(all().setLimit(-1))).hasSize(1);
  }

  @Test
  void sortTargetSortsEachChunkSeparately_GS7() {
    STORE.needs37();
    // The greater the key the smaller the value, so each chunk ends with its first key.
    IntStream.range(0, 14)
        .forEach(i -> client.put(STORE.key("%02d".formatted(i)), "%02d".formatted(90 - i)));

    List<RangeStreamResponse> chunks = client.rangeStream(all().setSortTarget(SortTarget.VALUE));

    // Eleven keys are fetched and sorted, ten are sent; the stream continues at the last one, 01.
    assertThat(names(chunks.get(0).getRangeResponse()))
        .containsExactly("10", "09", "08", "07", "06", "05", "04", "03", "02", "01");
    // The second chunk may be twice as large: all remaining keys.
    assertThat(chunks).hasSize(2);
    RangeResponse last = chunks.get(1).getRangeResponse();
    assertThat(names(last))
        .containsExactly("13", "12", "11", "10", "09", "08", "07", "06", "05", "04", "03", "02");
    assertThat(last.getCount()).isEqualTo(22);
    assertThat(last.getMore()).isFalse();
    assertThat(last.getHeader().getRevision()).isEqualTo(client.revision());
  }

  @Test
  void limitCountsRecordsSentTwice_GS7() {
    STORE.needs37();
    IntStream.range(0, 14)
        .forEach(i -> client.put(STORE.key("%02d".formatted(i)), "%02d".formatted(90 - i)));

    RangeResponse merged =
        merge(client.rangeStream(all().setSortTarget(SortTarget.VALUE).setLimit(13)));

    assertThat(names(merged))
        .containsExactly(
            "10", "09", "08", "07", "06", "05", "04", "03", "02", "01", "05", "04", "03");
    assertThat(merged.getMore()).isTrue();
    // 13 sent, and the ten after the last of them
    assertThat(merged.getCount()).isEqualTo(23);
  }

  @Test
  void negativeLimitSortsWholeResult_GS7() {
    STORE.needs37();
    IntStream.range(0, 25).forEach(i -> client.put(STORE.key("%02d".formatted(i)), "" + (99 - i)));
    RangeRequest.Builder sorted = all().setLimit(-1).setSortTarget(SortTarget.VALUE);
    List<RangeStreamResponse> messages = client.rangeStream(sorted);
    assertThat(messages).hasSize(1);
    assertThat(messages.get(0).getRangeResponse()).isEqualTo(client.range(sorted));
  }

  @Test
  void emptyRangeIsOneMessageWithHeader_GS2() {
    STORE.needs37();
    List<RangeStreamResponse> messages = client.rangeStream(get(STORE.key("none")));
    assertThat(messages).hasSize(1);
    assertThat(messages.get(0).getRangeResponse().getHeader().getRevision()).isPositive();
  }
}
