package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.delete;
import static io.troupe.tests.conformance.Requests.deletePrefix;
import static io.troupe.tests.conformance.Requests.op;
import static io.troupe.tests.conformance.Requests.put;
import static io.troupe.tests.conformance.Requests.txn;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmRequest.AlarmAction;
import io.troupe.grpc.api.AlarmType;
import io.troupe.grpc.api.DefragmentRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.StatusRequest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.15: a member that reaches its quota, and its recovery. */
class QuotaConformanceTest {
  @RegisterExtension
  static final ServedStore STORE = ServedStore.create().with("quota-backend-bytes", "8000000");

  private static final String NO_SPACE = "etcdserver: mvcc: database space exceeded";

  private final ApiClient client = STORE.client();

  private List<AlarmMember> alarms() {
    return client.call(Api.ALARM, AlarmRequest.getDefaultInstance()).getAlarmsList();
  }

  private boolean fits(int i) {
    try {
      client.put(
          PutRequest.newBuilder()
              .setKey(bytes(STORE.key("" + i)))
              .setValue(Requests.filled(500_000)));
      return true;
    } catch (StatusRuntimeException refusal) {
      assertThat(refusal.getStatus().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
      assertThat(refusal.getStatus().getDescription()).isEqualTo(NO_SPACE);
      return false;
    }
  }

  @Test
  void quotaRaisesAlarmUntilCompactDefragmentAndDisarm_Q1_Q3() {
    STORE.needsFreshStore();
    int puts = 0;
    while (fits(puts)) {
      puts++;
      assertThat(puts).isLessThan(64);
    }
    ServedStore.await().until(() -> !alarms().isEmpty());
    long self = client.get(STORE.key("a")).getHeader().getMemberId();
    assertThat(alarms())
        .containsExactly(
            AlarmMember.newBuilder().setMemberID(self).setAlarm(AlarmType.NOSPACE).build());
    assertThat(client.call(Api.STATUS, StatusRequest.getDefaultInstance()).getErrorsList())
        .singleElement()
        .asString()
        .contains("NOSPACE");

    // Q1: the quota is checked before the key; requests without a cost are accepted
    client.refused(
        Api.PUT,
        PutRequest.newBuilder().setValue(Requests.filled(600_000)).build(),
        Code.RESOURCE_EXHAUSTED,
        NO_SPACE);
    client.refused(
        Api.TXN,
        txn(op(put(STORE.key("x"), "").setValue(Requests.filled(600_000)))).build(),
        Code.RESOURCE_EXHAUSTED,
        NO_SPACE);
    client.txn(txn(op(delete(STORE.key("0")))));

    long revision = client.delete(deletePrefix(STORE.key(""))).getHeader().getRevision();
    client.compact(revision);
    client.call(Api.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
    client.call(
        Api.ALARM,
        AlarmRequest.newBuilder()
            .setAction(AlarmAction.DEACTIVATE)
            .setMemberID(self)
            .setAlarm(AlarmType.NOSPACE)
            .build());
    // the space may be free some time after the response
    ServedStore.await()
        .until(
            () ->
                client.call(Api.STATUS, StatusRequest.getDefaultInstance()).getDbSize()
                    < 4_000_000);
    client.put(STORE.key("again"), "1");
    assertThat(alarms()).isEmpty();
  }
}
