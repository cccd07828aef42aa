package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.delete;
import static io.troupe.tests.conformance.Requests.deletePrefix;
import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.put;
import static io.troupe.tests.conformance.Requests.watch;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sections 2.5, 2.6 and 2.8: Put, DeleteRange, Compact. */
class WriteConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final ApiClient client = STORE.client();

  private List<String> leaseKeys(long lease) {
    return client
        .call(
            Api.TIME_TO_LIVE,
            LeaseTimeToLiveRequest.newBuilder().setID(lease).setKeys(true).build())
        .getKeysList()
        .stream()
        .map(key -> key.toStringUtf8())
        .sorted()
        .toList();
  }

  @Test
  void shapeOfRequestsIsChecked_P1() {
    client.refused(
        Api.PUT,
        PutRequest.getDefaultInstance(),
        Code.INVALID_ARGUMENT,
        "etcdserver: key is not provided");
    client.refused(
        Api.PUT,
        put(STORE.key("a"), "1").setIgnoreValue(true).build(),
        Code.INVALID_ARGUMENT,
        "etcdserver: value is provided");
    client.refused(
        Api.PUT,
        put(STORE.key("a"), "1").setIgnoreLease(true).setLease(1).build(),
        Code.INVALID_ARGUMENT,
        "etcdserver: lease is provided");
  }

  @Test
  void unknownLeaseWritesNothing_P2() {
    client.refused(
        Api.PUT,
        put(STORE.key("a"), "1").setLease(4711).build(),
        Code.NOT_FOUND,
        "etcdserver: requested lease not found");
    assertThat(client.get(STORE.key("a")).getCount()).isZero();
  }

  @Test
  void ignoreKeepsValueOrLease_P3() {
    long lease = client.grant(60).getID();
    String key = STORE.key("a");
    client.put(put(key, "1").setLease(lease));

    client.put(put(key, "2").setIgnoreLease(true));
    assertThat(client.record(key).getValue()).isEqualTo(bytes("2"));
    assertThat(client.record(key).getLease()).isEqualTo(lease);

    client.put(put(key, "").setIgnoreValue(true));
    assertThat(client.record(key).getValue()).isEqualTo(bytes("2"));
    assertThat(client.record(key).getLease()).isZero();
    assertThat(client.record(key).getVersion()).isEqualTo(3);
  }

  @Test
  void ignoreOptionsNeedExistingKey_P3() {
    client.refused(
        Api.PUT,
        put(STORE.key("a"), "").setIgnoreValue(true).build(),
        Code.INVALID_ARGUMENT,
        "etcdserver: key not found");
    client.refused(
        Api.PUT,
        put(STORE.key("a"), "1").setIgnoreLease(true).build(),
        Code.INVALID_ARGUMENT,
        "etcdserver: key not found");
  }

  @Test
  void putMovesOrDetachesLease_P4() {
    long one = client.grant(60).getID();
    long two = client.grant(60).getID();
    String key = STORE.key("a");
    client.put(put(key, "1").setLease(one));
    client.put(put(key, "1").setLease(two));
    assertThat(leaseKeys(one)).isEmpty();
    assertThat(leaseKeys(two)).containsExactly(key);

    client.put(key, "1");
    assertThat(leaseKeys(two)).isEmpty();
    client.revoke(two);
    client.revoke(one);
    assertThat(client.get(key).getCount()).isEqualTo(1);
  }

  @Test
  void prevKvIsPreviousRecord_P5() {
    String key = STORE.key("a");
    PutResponse created = client.put(put(key, "1").setPrevKv(true));
    assertThat(created.hasPrevKv()).isFalse();
    KeyValue before = client.record(key);
    PutResponse changed = client.put(put(key, "2").setPrevKv(true));
    assertThat(changed.getPrevKv()).isEqualTo(before);
    assertThat(client.put(key, "3").hasPrevKv()).isFalse();
  }

  @Test
  void sameValueMakesRevisionAndEvent_P6() {
    String key = STORE.key("a");
    long first = client.put(key, "1").getHeader().getRevision();
    try (WatchStream watch = client.watch()) {
      watch.create(watch(key));
      assertThat(client.put(key, "1").getHeader().getRevision()).isEqualTo(first + 1);
      assertThat(watch.events(1).get(0).getKv().getVersion()).isEqualTo(2);
    }
  }

  @Test
  void emptyKeyIsRefused_D1() {
    client.refused(
        Api.DELETE,
        DeleteRangeRequest.getDefaultInstance(),
        Code.INVALID_ARGUMENT,
        "etcdserver: key is not provided");
  }

  @Test
  void deletedRecordsAreInKeyOrder_D1() {
    for (String key : List.of("c", "a", "b")) {
      client.put(STORE.key(key), key);
    }
    DeleteRangeResponse done = client.delete(deletePrefix(STORE.key("")).setPrevKv(true));
    assertThat(done.getDeleted()).isEqualTo(3);
    assertThat(done.getPrevKvsList())
        .extracting(kv -> kv.getValue().toStringUtf8())
        .containsExactly("a", "b", "c");
    assertThat(client.get(STORE.key("a")).getCount()).isZero();
  }

  @Test
  void deletingDetachesFromLease_D2() {
    long lease = client.grant(60).getID();
    client.put(put(STORE.key("a"), "1").setLease(lease));
    client.put(put(STORE.key("b"), "1").setLease(lease));
    client.delete(delete(STORE.key("a")));
    assertThat(leaseKeys(lease)).containsExactly(STORE.key("b"));
  }

  @Test
  void deletingNothingSucceeds_D2() {
    DeleteRangeResponse none = client.delete(delete(STORE.key("none")).setPrevKv(true));
    assertThat(none.getDeleted()).isZero();
    assertThat(none.getPrevKvsList()).isEmpty();
    assertThat(none.getHeader().getRevision()).isEqualTo(client.revision());
  }

  @Test
  void invalidCompactionsAreRefused_C1() {
    long revision = client.put(STORE.key("a"), "1").getHeader().getRevision();
    client.refused(
        Api.COMPACT,
        CompactionRequest.newBuilder().setRevision(revision + 1).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision is a future revision");
    client.compact(revision);
    for (long old : new long[] {revision, revision - 1, 0, -1}) {
      client.refused(
          Api.COMPACT,
          CompactionRequest.newBuilder().setRevision(old).build(),
          Code.OUT_OF_RANGE,
          "etcdserver: mvcc: required revision has been compacted");
    }
  }

  @Test
  void newestVersionOfLiveKeyStays_C2() {
    client.put(STORE.key("old"), "1");
    client.put(STORE.key("gone"), "1");
    client.delete(delete(STORE.key("gone")));
    client.put(STORE.key("a"), "1");
    long at = client.put(STORE.key("a"), "2").getHeader().getRevision();
    client.put(STORE.key("a"), "3");
    client.compact(at);

    assertThat(client.range(get(STORE.key("old")).setRevision(at)).getCount()).isEqualTo(1);
    assertThat(client.range(get(STORE.key("gone")).setRevision(at)).getCount()).isZero();
    assertThat(client.range(get(STORE.key("a")).setRevision(at)).getKvs(0).getValue())
        .isEqualTo(bytes("2"));
    assertThat(client.range(get(STORE.key("a")).setRevision(at + 1)).getKvs(0).getValue())
        .isEqualTo(bytes("3"));
    assertThat(client.record(STORE.key("old")).getVersion()).isEqualTo(1);
  }

  @Test
  void watchSeesDeletionAtCompactedRevision_C2() {
    client.put(STORE.key("a"), "1");
    long at = client.delete(delete(STORE.key("a"))).getHeader().getRevision();
    client.compact(at);
    try (WatchStream watch = client.watch()) {
      watch.create(watch(STORE.key("a")).setStartRevision(at));
      assertThat(watch.events(1).get(0).getKv().getModRevision()).isEqualTo(at);
    }
  }

  @Test
  void compactionKeepsRevision_C3() {
    long revision = client.put(STORE.key("a"), "1").getHeader().getRevision();
    assertThat(
            client
                .call(Api.COMPACT, CompactionRequest.newBuilder().setRevision(revision - 1).build())
                .getHeader()
                .getRevision())
        .isEqualTo(revision);
    assertThat(client.compact(revision).getHeader().getRevision()).isEqualTo(revision);
    assertThat(client.revision()).isEqualTo(revision);
  }
}
