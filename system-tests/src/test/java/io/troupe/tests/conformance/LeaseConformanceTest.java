package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.delete;
import static io.troupe.tests.conformance.Requests.put;
import static io.troupe.tests.conformance.Requests.watch;
import static io.troupe.tests.conformance.Requests.watchPrefix;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseLeasesRequest;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.LeaseStatus;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import io.troupe.grpc.api.LeaseTimeToLiveResponse;
import io.troupe.grpc.api.mvcc.Event;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.10: leases, with an election timeout that makes one second the shortest TTL. */
class LeaseConformanceTest {
  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create().with("heartbeat-interval", "50 ms").with("election-timeout", "500 ms");

  private static final String NOT_FOUND = "etcdserver: requested lease not found";

  private final ApiClient client = STORE.client();

  private LeaseGrantResponse grant(long id, long ttl) {
    return client.call(Api.GRANT, LeaseGrantRequest.newBuilder().setID(id).setTTL(ttl).build());
  }

  private LeaseTimeToLiveResponse timeToLive(long id) {
    return client.call(
        Api.TIME_TO_LIVE, LeaseTimeToLiveRequest.newBuilder().setID(id).setKeys(true).build());
  }

  private List<Long> leases() {
    return client.call(Api.LEASES, LeaseLeasesRequest.getDefaultInstance()).getLeasesList().stream()
        .map(LeaseStatus::getID)
        .toList();
  }

  @Test
  void serverChoosesPositiveId_L1() {
    LeaseGrantResponse one = grant(0, 60);
    LeaseGrantResponse two = grant(0, 60);
    assertThat(one.getID()).isPositive();
    assertThat(two.getID()).isPositive().isNotEqualTo(one.getID());
    assertThat(one.getTTL()).isEqualTo(60);
    assertThat(one.getError()).as("L3").isEmpty();
    assertThat(one.getHeader().getMemberId()).isNotZero();
  }

  @Test
  void givenIdsAreUsedOrRefused_L1() {
    assertThat(grant(-5, 60).getID()).isEqualTo(-5);
    client.refused(
        Api.GRANT,
        LeaseGrantRequest.newBuilder().setID(-5).setTTL(60).build(),
        Code.FAILED_PRECONDITION,
        "etcdserver: lease already exists");
    client.refused(
        Api.GRANT,
        LeaseGrantRequest.newBuilder().setTTL(9_000_000_001L).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: too large lease TTL");
    LeaseGrantResponse longest = grant(0, 9_000_000_000L);
    assertThat(longest.getTTL()).isEqualTo(9_000_000_000L);
    client.revoke(longest.getID());
    client.revoke(-5);
  }

  @Test
  void shortTtlsAreRaised_L2() {
    // 10 ticks of 50 ms: (3 * 10 / 2) * 50 ms = 0.75 s, so 1 s
    assertThat(grant(0, 0).getTTL()).isEqualTo(1);
    assertThat(grant(0, -3).getTTL()).isEqualTo(1);
    assertThat(grant(0, 1).getTTL()).isEqualTo(1);
    assertThat(grant(0, 2).getTTL()).isEqualTo(2);
  }

  @Test
  void expiryDeletesKeysAndIsNotEarly_L4() {
    try (WatchStream watch = client.watch()) {
      watch.create(watchPrefix(STORE.key("")));
      long granted = System.nanoTime();
      long lease = grant(0, 1).getID();
      client.put(put(STORE.key("b"), "1").setLease(lease));
      client.put(put(STORE.key("a"), "1").setLease(lease));

      List<Event> events = watch.events(4);
      assertThat(Duration.ofNanos(System.nanoTime() - granted))
          .isGreaterThanOrEqualTo(Duration.ofMillis(990));
      // L9, R3: all keys in key order, in one revision
      assertThat(events.subList(2, 4))
          .extracting(event -> event.getKv().getKey())
          .containsExactly(bytes(STORE.key("a")), bytes(STORE.key("b")));
      assertThat(events.get(2).getKv().getModRevision())
          .isEqualTo(events.get(3).getKv().getModRevision());
      assertThat(timeToLive(lease).getTTL()).isEqualTo(-1);
    }
  }

  @Test
  void keepAliveRespondsInOrder_L5() {
    long one = grant(0, 60).getID();
    long two = grant(0, 100).getID();
    try (KeepAliveStream stream = new KeepAliveStream(client.channel())) {
      for (int i = 0; i < 20; i++) {
        stream.send(one);
        stream.send(two);
        stream.send(4711);
      }
      for (int i = 0; i < 20; i++) {
        LeaseKeepAliveResponse first = stream.next();
        assertThat(first.getID()).isEqualTo(one);
        assertThat(first.getTTL()).isEqualTo(60);
        assertThat(first.getHeader().getRevision()).as("R7").isPositive();
        assertThat(stream.next().getTTL()).isEqualTo(100);
        LeaseKeepAliveResponse unknown = stream.next();
        assertThat(unknown.getID()).isEqualTo(4711);
        assertThat(unknown.getTTL()).isZero();
      }
      assertThat(stream.finish().isOk()).isTrue();
    }
  }

  @Test
  void renewedLeaseDoesNotExpire_L5() {
    long lease = grant(0, 2).getID();
    client.put(put(STORE.key("a"), "1").setLease(lease));
    long end = System.nanoTime() + Duration.ofMillis(2600).toNanos();
    try (KeepAliveStream stream = new KeepAliveStream(client.channel())) {
      ServedStore.await()
          .pollInterval(Duration.ofMillis(300))
          .until(() -> stream.renew(lease).getTTL() == 2 && System.nanoTime() > end);
      assertThat(client.get(STORE.key("a")).getCount()).isEqualTo(1);
      client.revoke(lease);
      assertThat(stream.renew(lease).getTTL()).isZero();
    }
  }

  @Test
  void timeToLive_L7() {
    long lease = grant(0, 60).getID();
    client.put(put(STORE.key("a"), "1").setLease(lease));
    client.put(put(STORE.key("b"), "1").setLease(lease));
    LeaseTimeToLiveResponse known = timeToLive(lease);
    assertThat(known.getID()).isEqualTo(lease);
    assertThat(known.getGrantedTTL()).isEqualTo(60);
    assertThat(known.getTTL()).isBetween(50L, 60L);
    assertThat(known.getKeysList())
        .containsExactlyInAnyOrder(bytes(STORE.key("a")), bytes(STORE.key("b")));
    assertThat(
            client
                .call(Api.TIME_TO_LIVE, LeaseTimeToLiveRequest.newBuilder().setID(lease).build())
                .getKeysList())
        .isEmpty();
    LeaseTimeToLiveResponse unknown = timeToLive(4711);
    assertThat(unknown.getID()).isEqualTo(4711);
    assertThat(unknown.getTTL()).isEqualTo(-1);
    assertThat(unknown.getGrantedTTL()).isZero();
    assertThat(unknown.getHeader().getRevision()).isPositive();
  }

  @Test
  void leasesByRemainingTime_L8() {
    long late = grant(0, 500).getID();
    long soon = grant(0, 300).getID();
    long middle = grant(0, 400).getID();
    assertThat(leases()).containsSubsequence(soon, middle, late);
    client.revoke(middle);
    assertThat(leases()).contains(soon, late).doesNotContain(middle);
  }

  @Test
  void revokeDeletesKeysInOneRevision_L9() {
    long lease = grant(0, 60).getID();
    client.put(put(STORE.key("b"), "1").setLease(lease));
    client.put(put(STORE.key("a"), "1").setLease(lease));
    try (WatchStream watch = client.watch()) {
      watch.create(watchPrefix(STORE.key("")));
      long revision = client.revoke(lease).getHeader().getRevision();
      assertThat(watch.events(2))
          .extracting(event -> event.getKv().getModRevision())
          .containsExactly(revision, revision);
    }
    client.refused(
        Api.REVOKE,
        LeaseRevokeRequest.newBuilder().setID(lease).build(),
        Code.NOT_FOUND,
        NOT_FOUND);
  }

  @Test
  void manyLeasesExpire_L10() {
    try (WatchStream watch = client.watch()) {
      watch.create(watchPrefix(STORE.key("")));
      for (int i = 0; i < 50; i++) {
        client.put(put(STORE.key("" + i), "1").setLease(grant(0, 1).getID()));
      }
      long deletions =
          watch.events(100).stream()
              .filter(event -> event.getType() == Event.EventType.DELETE)
              .count();
      assertThat(deletions).isEqualTo(50);
    }
  }

  @Test
  void leaseWithoutKeysStays_L15() {
    long lease = grant(0, 60).getID();
    client.put(put(STORE.key("a"), "1").setLease(lease));
    client.delete(delete(STORE.key("a")));
    assertThat(timeToLive(lease).getKeysList()).isEmpty();
    assertThat(timeToLive(lease).getGrantedTTL()).isEqualTo(60);
    try (WatchStream watch = client.watch()) {
      watch.create(watch(STORE.key("a")));
      client.put(STORE.key("a"), "2");
      client.revoke(lease);
      assertThat(watch.events(1).get(0).getKv().getLease()).isZero();
      assertThat(client.get(STORE.key("a")).getCount()).isEqualTo(1);
    }
  }
}
