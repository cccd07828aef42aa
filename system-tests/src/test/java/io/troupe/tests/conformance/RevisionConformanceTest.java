package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.compare;
import static io.troupe.tests.conformance.Requests.delete;
import static io.troupe.tests.conformance.Requests.deletePrefix;
import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.op;
import static io.troupe.tests.conformance.Requests.prefix;
import static io.troupe.tests.conformance.Requests.put;
import static io.troupe.tests.conformance.Requests.txn;
import static io.troupe.tests.conformance.Requests.watchPrefix;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.Compare.CompareResult;
import io.troupe.grpc.api.Compare.CompareTarget;
import io.troupe.grpc.api.DefragmentRequest;
import io.troupe.grpc.api.DefragmentResponse;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.mvcc.Event;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Sections 2.1 and 2.2: headers, revisions, key ranges. */
class RevisionConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final ApiClient client = STORE.client();

  @Test
  void transactionIsOneRevisionWithOrderedChanges_R2() {
    client.put(STORE.key("old"), "x");
    long before = client.revision();
    try (WatchStream watch = client.watch()) {
      watch.create(watchPrefix(STORE.key("")));

      TxnResponse done =
          client.txn(
              txn(
                  op(put(STORE.key("z"), "1")),
                  op(delete(STORE.key("old"))),
                  op(put(STORE.key("a"), "2"))));

      assertThat(done.getHeader().getRevision()).isEqualTo(before + 1);
      List<Event> events = watch.events(3);
      assertThat(events)
          .extracting(event -> event.getKv().getModRevision())
          .containsOnly(before + 1);
      assertThat(events)
          .extracting(event -> event.getKv().getKey())
          .containsExactly(bytes(STORE.key("z")), bytes(STORE.key("old")), bytes(STORE.key("a")));
    }
  }

  @Test
  void operationsWithoutKeyChangesKeepRevision_R3() {
    long before = client.put(STORE.key("a"), "1").getHeader().getRevision();

    assertThat(client.delete(delete(STORE.key("none"))).getHeader().getRevision())
        .isEqualTo(before);
    assertThat(
            client
                .txn(txn(op(delete(STORE.key("none"))), op(get(STORE.key("a")))))
                .getHeader()
                .getRevision())
        .isEqualTo(before);
    client.refused(
        Api.PUT,
        put(STORE.key("a"), "2").setLease(4711).build(),
        io.grpc.Status.Code.NOT_FOUND,
        "etcdserver: requested lease not found");
    LeaseGrantResponse lease = client.grant(60);
    assertThat(lease.getHeader().getRevision()).isEqualTo(before);
    assertThat(client.revoke(lease.getID()).getHeader().getRevision()).isEqualTo(before);
    assertThat(client.revision()).isEqualTo(before);
  }

  @Test
  void revokingLeaseWithKeysIsOneRevision_R3() {
    long lease = client.grant(60).getID();
    client.put(put(STORE.key("a"), "1").setLease(lease));
    long before = client.put(put(STORE.key("b"), "1").setLease(lease)).getHeader().getRevision();

    assertThat(client.revoke(lease).getHeader().getRevision()).isEqualTo(before + 1);
    assertThat(client.range(prefix(STORE.key(""))).getCount()).isZero();
  }

  @Test
  void recordHasCreateModAndVersionNumbers_R4() {
    String key = STORE.key("a");
    long first = client.put(key, "1").getHeader().getRevision();
    long second = client.put(key, "2").getHeader().getRevision();

    KeyValue record = client.record(key);
    assertThat(record.getCreateRevision()).isEqualTo(first);
    assertThat(record.getModRevision()).isEqualTo(second).isEqualTo(first + 1);
    assertThat(record.getVersion()).isEqualTo(2);
    assertThat(record.getLease()).isZero();

    client.delete(delete(key));
    long third = client.put(key, "3").getHeader().getRevision();
    KeyValue again = client.record(key);
    assertThat(again.getCreateRevision()).isEqualTo(third);
    assertThat(again.getVersion()).isEqualTo(1);
  }

  @Test
  void headerRevisionIsNewOrCurrentRevision_R5() {
    long first = client.put(STORE.key("a"), "1").getHeader().getRevision();
    long second = client.put(STORE.key("b"), "1").getHeader().getRevision();

    assertThat(second).isEqualTo(first + 1);
    assertThat(client.range(get(STORE.key("a")).setRevision(first)).getHeader().getRevision())
        .isEqualTo(second);
    assertThat(client.delete(delete(STORE.key("a"))).getHeader().getRevision())
        .isEqualTo(second + 1);
    assertThat(client.delete(delete(STORE.key("a"))).getHeader().getRevision())
        .isEqualTo(second + 1);
  }

  @Test
  void fullHeadersNameClusterMemberAndTerm_R6() {
    PutResponse put = client.put(STORE.key("a"), "1");
    List<ResponseHeader> headers =
        List.of(
            put.getHeader(),
            client.get(STORE.key("a")).getHeader(),
            client.delete(delete(STORE.key("x"))).getHeader(),
            client.txn(txn(op(get(STORE.key("a"))))).getHeader(),
            client.grant(60).getHeader());
    for (ResponseHeader header : headers) {
      assertThat(header.getClusterId()).isEqualTo(put.getHeader().getClusterId()).isNotZero();
      assertThat(header.getMemberId()).isEqualTo(put.getHeader().getMemberId()).isNotZero();
      assertThat(header.getRaftTerm()).isPositive();
      assertThat(header.getRevision()).isEqualTo(put.getHeader().getRevision());
    }
  }

  @Test
  void innerHeadersHoldOnlyRevision_R6() {
    long before = client.put(STORE.key("a"), "1").getHeader().getRevision();

    TxnResponse done =
        client.txn(
            txn(
                op(get(STORE.key("a"))),
                op(delete(STORE.key("none"))),
                op(put(STORE.key("a"), "2")),
                op(get(STORE.key("a"))),
                op(txn(op(put(STORE.key("b"), "3"))))));

    ResponseHeader old = ResponseHeader.newBuilder().setRevision(before).build();
    ResponseHeader made = ResponseHeader.newBuilder().setRevision(before + 1).build();
    assertThat(done.getResponses(0).getResponseRange().getHeader()).isEqualTo(old);
    assertThat(done.getResponses(1).getResponseDeleteRange().getHeader()).isEqualTo(old);
    assertThat(done.getResponses(2).getResponsePut().getHeader()).isEqualTo(made);
    assertThat(done.getResponses(3).getResponseRange().getHeader()).isEqualTo(made);
    TxnResponse nested = done.getResponses(4).getResponseTxn();
    assertThat(nested.hasHeader()).isTrue();
    assertThat(nested.getHeader()).isEqualTo(ResponseHeader.getDefaultInstance());
    assertThat(nested.getResponses(0).getResponsePut().getHeader()).isEqualTo(made);
  }

  @Test
  void memberListHasNoRevisionAndDefragmentNoHeader_R7() {
    MemberListResponse members =
        client.call(Api.MEMBER_LIST, MemberListRequest.getDefaultInstance());
    assertThat(members.getHeader().getRevision()).isZero();
    assertThat(members.getHeader().getClusterId()).isNotZero();
    DefragmentResponse done = client.call(Api.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
    assertThat(done.hasHeader()).isFalse();
  }

  @Test
  void readSeesAllCompletedWrites_R8() {
    try (ApiClient other = new ApiClient(STORE.target())) {
      for (int i = 0; i < 100; i++) {
        client.put(STORE.key("a"), "value " + i);
        assertThat(other.record(STORE.key("a")).getValue()).isEqualTo(bytes("value " + i));
      }
      assertThat(other.range(get(STORE.key("a")).setSerializable(true)).getCount()).isEqualTo(1);
    }
  }

  @Test
  void concurrentWritesGetDistinctRevisions_R9() throws Exception {
    long before = client.revision();
    List<Future<PutResponse>> puts = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      PutRequest request = put(STORE.key("k" + i % 10), "v").build();
      puts.add(
          ClientCalls.futureUnaryCall(
              client.channel().newCall(Api.PUT, io.grpc.CallOptions.DEFAULT), request));
    }
    List<Long> revisions = new ArrayList<>();
    for (Future<PutResponse> put : puts) {
      revisions.add(put.get().getHeader().getRevision());
    }
    assertThat(revisions).doesNotHaveDuplicates().allMatch(revision -> revision > before);
    assertThat(client.revision()).isEqualTo(before + 500);
  }

  @Test
  void keysAreUnsignedBytesAndValuesMayBeEmpty_R10() {
    ByteString root = bytes(STORE.key(""));
    List<ByteString> keys =
        Stream.of(
                new byte[] {},
                new byte[] {0},
                new byte[] {0, 0},
                new byte[] {0x7f},
                new byte[] {(byte) 0x80},
                new byte[] {(byte) 0xff},
                new byte[] {(byte) 0xff, 0})
            .map(tail -> root.concat(ByteString.copyFrom(tail)))
            .toList();
    for (int i = keys.size() - 1; i >= 0; i--) {
      client.put(PutRequest.newBuilder().setKey(keys.get(i)));
    }

    RangeResponse all = client.range(prefix(STORE.key("")));
    assertThat(all.getKvsList()).extracting(KeyValue::getKey).isEqualTo(keys);
    assertThat(all.getKvsList()).allMatch(kv -> kv.getValue().isEmpty());
  }

  static Stream<Arguments> ranges() {
    return Stream.of(
        Arguments.of("K1_emptyEndIsOneKey", "b", "", "b"),
        Arguments.of("K3_halfOpen", "b", "d", "b,c"),
        Arguments.of("K3_endEqualToKeyIsEmpty", "b", "b", ""),
        Arguments.of("K3_endBelowKeyIsEmpty", "c", "b", ""),
        Arguments.of("K3_keyNeedNotExist", "aa", "cc", "b,c"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ranges")
  void rangesSelectKeys(String statement, String from, String to, String expected) {
    for (String key : List.of("a", "b", "c", "d")) {
      client.put(STORE.key(key), key);
    }
    ByteString end = to.isEmpty() ? ByteString.EMPTY : bytes(STORE.key(to));
    List<String> values = expected.isEmpty() ? List.of() : List.of(expected.split(",", -1));

    RangeResponse found = client.range(get(STORE.key(from)).setRangeEnd(end));
    assertThat(found.getKvsList()).extracting(kv -> kv.getValue().toStringUtf8()).isEqualTo(values);
    assertThat(found.getCount()).isEqualTo(values.size());

    TxnResponse compared =
        client.txn(
            txn()
                .addCompare(
                    compare(STORE.key(from), CompareTarget.CREATE, CompareResult.GREATER)
                        .setRangeEnd(end)));
    assertThat(compared.getSucceeded()).as(statement).isEqualTo(!values.isEmpty());

    assertThat(client.delete(delete(STORE.key(from)).setRangeEnd(end)).getDeleted())
        .isEqualTo(values.size());
  }

  @Test
  void zeroEndReadsToLastKey_K2() {
    client.put(STORE.key("a"), "1");
    client.put("~~~ last", "1");

    RangeResponse open = client.range(get(STORE.key("a")).setRangeEnd(Requests.ZERO));
    assertThat(open.getKvs((int) open.getCount() - 1).getKey()).isEqualTo(bytes("~~~ last"));
    assertThat(open.getKvs(0).getKey()).isEqualTo(bytes(STORE.key("a")));

    RangeResponse everything =
        client.range(get("\0").setRangeEnd(Requests.ZERO).setCountOnly(true));
    assertThat(everything.getCount()).isGreaterThanOrEqualTo(open.getCount());
    long deleted = client.delete(delete("~").setRangeEnd(Requests.ZERO)).getDeleted();
    assertThat(deleted).isEqualTo(1);
  }

  @Test
  void prefixEndSelectsPrefix_K4() {
    client.put(STORE.key("p"), "1");
    client.put(STORE.key("p/1"), "1");
    client.put(STORE.key("q"), "1");

    assertThat(client.range(prefix(STORE.key("p"))).getCount()).isEqualTo(2);
    assertThat(client.delete(deletePrefix(STORE.key("p"))).getDeleted()).isEqualTo(2);
    assertThat(client.get(STORE.key("q")).getCount()).isEqualTo(1);
  }
}
