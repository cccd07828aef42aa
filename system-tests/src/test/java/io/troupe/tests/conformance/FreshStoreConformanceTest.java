package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.HashKVResponse;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Statements that hold only before the first write; the order of these tests matters. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FreshStoreConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final String COMPACTED = "etcdserver: mvcc: required revision has been compacted";

  private final ApiClient client = STORE.client();

  @Test
  @Order(1)
  void freshStoreHasRevisionOneAndNothingCompacted_R1() {
    STORE.needsFreshStore();
    assertThat(client.revision()).isEqualTo(1);
    HashKVResponse hash = client.call(Api.HASH_KV, HashKVRequest.getDefaultInstance());
    assertThat(hash.getCompactRevision()).isEqualTo(-1);
    assertThat(hash.getHeader().getRevision()).isEqualTo(1);
  }

  @Test
  @Order(2)
  void compactingZeroWorksOnce_C1() {
    STORE.needsFreshStore();
    client.refused(
        Api.COMPACT,
        CompactionRequest.newBuilder().setRevision(-1).build(),
        Code.OUT_OF_RANGE,
        COMPACTED);
    client.compact(0);
    client.refused(
        Api.COMPACT, CompactionRequest.getDefaultInstance(), Code.OUT_OF_RANGE, COMPACTED);
  }

  @Test
  @Order(3)
  void firstWriteGetsRevisionTwo_R1() {
    STORE.needsFreshStore();
    assertThat(client.put("a", "1").getHeader().getRevision()).isEqualTo(2);
    assertThat(client.record("a").getCreateRevision()).isEqualTo(2);
  }
}
