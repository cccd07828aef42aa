package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.NamesApi.lock;
import static io.troupe.tests.conformance.Requests.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import io.troupe.grpc.api.lock.LockResponse;
import io.troupe.grpc.api.lock.UnlockRequest;
import io.troupe.grpc.api.mvcc.KeyValue;
import io.troupe.tests.conformance.NamesApi.Pending;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.18: locks between clients. */
class LockConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final ApiClient client = STORE.client();
  private String name = "";

  @BeforeEach
  void ownName() {
    name = STORE.key("lock");
  }

  private long lease() {
    return client.grant(60).getID();
  }

  private LockResponse take(long lease) {
    return client.call(NamesApi.LOCK, lock(name, lease));
  }

  private Pending<LockResponse> waits(long lease) {
    Pending<LockResponse> pending = Pending.start(client, NamesApi.LOCK, lock(name, lease));
    ServedStore.await().until(() -> client.get(key(lease)).getCount() == 1);
    return pending;
  }

  private String key(long lease) {
    return name + "/" + Long.toHexString(lease);
  }

  private long unlock(LockResponse lock) {
    return client
        .call(NamesApi.UNLOCK, UnlockRequest.newBuilder().setKey(lock.getKey()).build())
        .getHeader()
        .getRevision();
  }

  @Test
  void freeLockIsAcquired_LK1() {
    long lease = lease();
    LockResponse taken = take(lease);
    assertThat(taken.getKey()).isEqualTo(bytes(key(lease)));
    KeyValue record = client.record(key(lease));
    assertThat(record.getValue().isEmpty()).isTrue();
    assertThat(record.getLease()).isEqualTo(lease);
    assertThat(taken.getHeader().getRevision()).isEqualTo(record.getCreateRevision());
  }

  @Test
  void sameLeaseReacquiresLock_LK1() {
    long lease = lease();
    LockResponse taken = take(lease);
    long before = client.revision();
    assertThat(take(lease).getKey()).isEqualTo(taken.getKey());
    assertThat(client.revision()).isEqualTo(before);
  }

  @Test
  void otherClientsWaitForUnlock_LK1_LK3() {
    LockResponse first = take(lease());
    Pending<LockResponse> second = waits(lease());
    Pending<LockResponse> third = waits(lease());
    assertThat(second.answers.poll()).isEmpty();
    long unlocked = unlock(first);
    LockResponse next = second.answers.next();
    assertThat(next.getHeader().getRevision()).isGreaterThanOrEqualTo(unlocked);
    assertThat(third.answers.poll()).isEmpty();
    unlock(next);
    unlock(third.answers.next());
  }

  @Test
  void deletedOwnKeyLosesLock_LK1() {
    LockResponse first = take(lease());
    long two = lease();
    Pending<LockResponse> second = waits(two);
    client.revoke(two);
    unlock(first);
    assertThat(second.answers.end().getCode()).isEqualTo(Code.UNKNOWN);
    assertThat(second.answers.end().getDescription()).isEqualTo("mutex: session is expired");
  }

  @Test
  void leaseExpiryUnlocks_LK1() {
    long one = lease();
    take(one);
    Pending<LockResponse> second = waits(lease());
    client.revoke(one);
    assertThat(second.answers.next().getKey()).isNotEqualTo(bytes(key(one)));
  }

  @Test
  void missingLeaseIsCreatedWithOneMinute_LK2() {
    LockResponse taken = take(0);
    long lease = client.record(taken.getKey().toStringUtf8()).getLease();
    assertThat(taken.getKey()).isEqualTo(bytes(key(lease)));
    assertThat(
            client
                .call(Api.TIME_TO_LIVE, LeaseTimeToLiveRequest.newBuilder().setID(lease).build())
                .getGrantedTTL())
        .isEqualTo(60);
  }

  @Test
  void unknownLeaseIsRefused_LK2_E8() {
    client.refused(
        NamesApi.LOCK, lock(name, 4712), Code.UNKNOWN, "etcdserver: requested lease not found");
  }

  @Test
  void unlockOfUnknownKeySucceeds_LK3() {
    long before = client.revision();
    assertThat(unlock(LockResponse.newBuilder().setKey(bytes(name + "/none")).build()))
        .isEqualTo(before);
    client.refused(
        NamesApi.UNLOCK,
        UnlockRequest.getDefaultInstance(),
        Code.UNKNOWN,
        "etcdserver: key is not provided");
  }

  @Test
  void cancelledLockWithdraws_LK4() {
    LockResponse first = take(lease());
    long two = lease();
    Pending<LockResponse> second = waits(two);
    Pending<LockResponse> third = waits(lease());
    second.cancel();
    ServedStore.await().until(() -> client.get(key(two)).getCount() == 0);
    assertThat(third.answers.poll()).isEmpty();
    unlock(first);
    third.answers.next();
  }
}
