package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.ResponseOp;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

class KubernetesClientTest {
  private final KubernetesObjects objects = new KubernetesObjects(10_000, 1);
  private final EventLeases leases = new EventLeases(11, System.nanoTime());
  private final LongAdder writes = new LongAdder();
  private final KubernetesClient client = client(0, 1);

  private KubernetesClient client(int number, int clients) {
    return new KubernetesClient(
        objects, leases, writes, number, clients, new SplittableRandom(number));
  }

  private static Reply reply(MessageLite message) {
    return new Reply(message.getSerializedSize(), message.toByteString());
  }

  private static ResponseHeader at(long revision) {
    return ResponseHeader.newBuilder().setRevision(revision).build();
  }

  private static RangeResponse found(ByteString key, long modRevision) {
    return RangeResponse.newBuilder()
        .setHeader(at(modRevision + 5))
        .addKvs(KeyValue.newBuilder().setKey(key).setModRevision(modRevision))
        .setCount(1)
        .build();
  }

  private static TxnResponse succeeded(long revision) {
    return TxnResponse.newBuilder().setHeader(at(revision)).setSucceeded(true).build();
  }

  private void assertKind(KubernetesRequest kind) {
    assertThat(client.kind()).isEqualTo(kind.number());
  }

  @Test
  void sharesAddUp() {
    assertThat(
            Arrays.stream(KubernetesOperation.values()).mapToInt(KubernetesOperation::share).sum())
        .isEqualTo(10_000);
    SplittableRandom random = new SplittableRandom(1);
    Map<KubernetesOperation, Integer> drawn = new EnumMap<>(KubernetesOperation.class);
    for (int i = 0; i < 100_000; i++) {
      drawn.merge(KubernetesOperation.draw(random), 1, Integer::sum);
    }
    assertThat(drawn.get(KubernetesOperation.UPDATE_LEASE)).isBetween(49_000, 51_000);
    assertThat(drawn.get(KubernetesOperation.COUNT)).isBetween(900, 1_300);
  }

  @Test
  void kindsAreNumberedInOrder() {
    assertThat(KubernetesRequest.all().stream().map(KubernetesRequest::number))
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    assertThat(KubernetesRequest.LIST_500.label()).isEqualTo("list-500");
  }

  @Test
  void sameSeedGivesSameRequests() throws IOException {
    KubernetesClient first = client(3, 4);
    KubernetesClient second = client(3, 4);
    for (int i = 0; i < 500; i++) {
      // Every call fails here, so each request is the first one of an operation.
      byte[] a = first.next();
      byte[] b = second.next();
      assertThat(first.kind()).isEqualTo(second.kind());
      if (first.method() == EtcdMethod.RANGE_KEEP) {
        assertThat(a).isEqualTo(b);
      } else {
        assertThat(TxnRequest.parseFrom(a).getCompareList())
            .isEqualTo(TxnRequest.parseFrom(b).getCompareList());
      }
    }
  }

  @Test
  void updateReadsThenWritesIfUnchanged() throws IOException {
    RangeRequest read = RangeRequest.parseFrom(client.begin(KubernetesOperation.UPDATE_NODE));
    assertKind(KubernetesRequest.GET);
    assertThat(read.getKey().toStringUtf8()).startsWith("/registry/minions/");
    assertThat(read.getSerializable()).isFalse();
    assertThat(client.accept(reply(found(read.getKey(), 70)))).isTrue();

    TxnRequest write = TxnRequest.parseFrom(client.next());
    assertKind(KubernetesRequest.UPDATE);
    assertThat(write.getCompare(0).getModRevision()).isEqualTo(70);
    assertThat(write.getSuccess(0).getRequestPut().getKey()).isEqualTo(read.getKey());
    assertThat(write.getSuccess(0).getRequestPut().getValue().size()).isEqualTo(8192);
    assertThat(write.getFailure(0).getRequestRange().getKey()).isEqualTo(read.getKey());
    assertThat(client.accept(reply(succeeded(80)))).isTrue();
    assertKind(KubernetesRequest.UPDATE);
    assertThat(writes.sum()).isEqualTo(1);
  }

  @Test
  void failedCompareIsConflictAndWriteIsRepeated() throws IOException {
    ByteString key = RangeRequest.parseFrom(client.begin(KubernetesOperation.UPDATE_POD)).getKey();
    client.accept(reply(found(key, 70)));
    byte[] unused = client.next();
    TxnResponse conflict =
        TxnResponse.newBuilder()
            .setHeader(at(90))
            .addResponses(ResponseOp.newBuilder().setResponseRange(found(key, 75)))
            .build();
    assertThat(client.accept(reply(conflict))).isTrue();
    assertKind(KubernetesRequest.CONFLICT);
    assertThat(writes.sum()).isZero();

    TxnRequest again = TxnRequest.parseFrom(client.next());
    assertKind(KubernetesRequest.UPDATE);
    assertThat(again.getCompare(0).getModRevision()).isEqualTo(75);
    assertThat(again.getCompare(0).getKey()).isEqualTo(key);
  }

  @Test
  void missingObjectIsAnErrorAndEndsTheOperation() throws IOException {
    byte[] unused = client.begin(KubernetesOperation.UPDATE_LEASE);
    assertThat(client.accept(reply(RangeResponse.newBuilder().setHeader(at(5)).build()))).isFalse();
    ByteString key =
        RangeRequest.parseFrom(client.begin(KubernetesOperation.UPDATE_LEASE)).getKey();
    assertThat(client.accept(reply(found(key, 9)))).isTrue();
    assertThat(TxnRequest.parseFrom(client.next()).getCompare(0).getModRevision()).isEqualTo(9);
    assertKind(KubernetesRequest.UPDATE_LEASE);
  }

  @Test
  void podsAreCreatedOnlyIfAbsentAndDeletedOnlyIfUnchanged() throws IOException {
    TxnRequest create =
        TxnRequest.parseFrom(client.begin(KubernetesOperation.CREATE_OR_DELETE_POD));
    assertKind(KubernetesRequest.CREATE);
    assertThat(create.getCompare(0).getModRevision()).isZero();
    assertThat(create.getFailureCount()).isZero();
    assertThat(client.accept(reply(succeeded(21)))).isTrue();
    byte[] unusedSecond = client.begin(KubernetesOperation.CREATE_OR_DELETE_POD);
    assertThat(client.accept(reply(succeeded(22)))).isTrue();
    TxnRequest delete =
        TxnRequest.parseFrom(client.begin(KubernetesOperation.CREATE_OR_DELETE_POD));
    assertKind(KubernetesRequest.DELETE);
    assertThat(delete.getCompare(0).getKey()).isEqualTo(create.getCompare(0).getKey());
    assertThat(delete.getCompare(0).getModRevision()).isEqualTo(21);
    assertThat(client.accept(reply(succeeded(40).toBuilder().addResponses(deleted(0)).build())))
        .isFalse();
    byte[] unused = client.begin(KubernetesOperation.CREATE_OR_DELETE_POD);
    assertThat(client.accept(reply(succeeded(40).toBuilder().addResponses(deleted(1)).build())))
        .isTrue();
    assertThat(writes.sum()).isEqualTo(3);
  }

  private static ResponseOp deleted(long count) {
    return ResponseOp.newBuilder()
        .setResponseDeleteRange(DeleteRangeResponse.newBuilder().setDeleted(count))
        .build();
  }

  @Test
  void eventsShareLeasesThatTheClientGrants() throws IOException {
    TxnRequest event = TxnRequest.parseFrom(client.begin(KubernetesOperation.CREATE_EVENT));
    assertKind(KubernetesRequest.CREATE_EVENT);
    assertThat(event.getSuccess(0).getRequestPut().getLease()).isEqualTo(11);
    for (int i = 1; i < EventLeases.MAX_OBJECTS; i++) {
      assertThat(leases.use(System.nanoTime())).isEqualTo(11);
    }
    byte[] unused = client.begin(KubernetesOperation.CREATE_EVENT);
    assertKind(KubernetesRequest.LEASE_GRANT);
    assertThat(client.method()).isSameAs(EtcdMethod.LEASE_GRANT);
    assertThat(client.accept(reply(LeaseGrantResponse.newBuilder().setID(12).build()))).isTrue();
    TxnRequest next = TxnRequest.parseFrom(client.next());
    assertThat(next.getSuccess(0).getRequestPut().getLease()).isEqualTo(12);
  }

  @Test
  void listContinuesAtFirstRevisionUntilAllObjectsArrived() throws IOException {
    RangeRequest first = RangeRequest.parseFrom(client.begin(KubernetesOperation.LIST_PODS));
    assertKind(KubernetesRequest.LIST_10000);
    assertThat(first.getLimit()).isEqualTo(10_000);
    assertThat(first.getRevision()).isZero();
    assertThat(client.accept(reply(page(10_000, 300, true)))).isTrue();

    RangeRequest second = RangeRequest.parseFrom(client.next());
    assertThat(second.getRevision()).isEqualTo(300);
    assertThat(second.getKey()).isEqualTo(ByteString.copyFromUtf8("pod-09999\0"));
    assertThat(second.getRangeEnd()).isEqualTo(first.getRangeEnd());
    assertThat(client.accept(reply(page(1, 400, false)))).isTrue();
  }

  @Test
  void shortListIsAnError() {
    byte[] unused = client.begin(KubernetesOperation.LIST_PODS);
    assertThat(client.accept(reply(page(5_999, 300, false)))).isFalse();
    byte[] unusedAgain = client.begin(KubernetesOperation.LIST_PODS);
    assertThat(client.accept(reply(page(6_000, 300, false)))).isTrue();
    byte[] unusedThird = client.begin(KubernetesOperation.LIST_PODS);
    assertThat(client.accept(reply(page(9_999, 300, true)))).isFalse();
  }

  private static RangeResponse page(int pods, long revision, boolean more) {
    RangeResponse.Builder page =
        RangeResponse.newBuilder().setHeader(at(revision)).setMore(more).setCount(10_001);
    for (int i = 0; i < pods; i++) {
      page.addKvs(
          KeyValue.newBuilder()
              .setKey(ByteString.copyFromUtf8(String.format(java.util.Locale.ROOT, "pod-%05d", i)))
              .setModRevision(i + 1));
    }
    return page.build();
  }

  @Test
  void nodesOfClientsDiffer() throws IOException {
    KubernetesClient other = client(1, 2);
    KubernetesClient mine = client(0, 2);
    for (int i = 0; i < 200; i++) {
      assertThat(node(mine) % 2).isZero();
      assertThat(node(other) % 2).isEqualTo(1);
    }
  }

  private static int node(KubernetesClient renewing) throws IOException {
    String key =
        RangeRequest.parseFrom(renewing.begin(KubernetesOperation.UPDATE_LEASE))
            .getKey()
            .toStringUtf8();
    return Integer.parseInt(key.substring(key.lastIndexOf('-') + 1));
  }
}
