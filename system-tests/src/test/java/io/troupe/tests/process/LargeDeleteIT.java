package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.DeleteRangeResponse;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One request deletes more than a heap holds: a member applies it in bounded memory, its watchers
 * get each event, and it restarts afterwards. With 256 MiB: what one entry may delete does not
 * depend on the heap.
 */
@Alone
@Tag("full")
@OwnHeap
class LargeDeleteIT {
  private static final String HEAP = "256m";
  private static final int KEYS_IN_TXN = 100;

  /** Field of WatchCreateRequest. */
  private static final int FRAGMENT_FIELD = 8;

  private final Path temp;

  LargeDeleteIT(@TempDir Path temp) {
    this.temp = temp;
  }

  /** The events of a watch stream, counted. */
  private static final class Watched implements StreamObserver<WatchResponse> {
    private final AtomicInteger deletions = new AtomicInteger();
    private final AtomicInteger responses = new AtomicInteger();
    private final AtomicLong previousBytes = new AtomicLong();
    private volatile boolean created;
    private volatile String end = "";

    @Override
    public void onNext(WatchResponse response) {
      created |= response.getCreated();
      for (Event event : response.getEventsList()) {
        if (event.getType() == Event.EventType.DELETE) {
          deletions.incrementAndGet();
          previousBytes.addAndGet(event.getPrevKv().getValue().size());
        }
      }
      responses.addAndGet(response.getEventsCount() > 0 ? 1 : 0);
    }

    @Override
    public void onError(Throwable failure) {
      end = failure.toString();
    }

    @Override
    public void onCompleted() {
      end = "completed";
    }
  }

  private static ManagedChannel connect(NodeProcess member) {
    return Grpc.newChannelBuilder(member.endpoint(), InsecureChannelCredentials.create())
        .maxInboundMessageSize(Integer.MAX_VALUE)
        .build();
  }

  private static ByteString key(String prefix, int i) {
    return ByteString.copyFromUtf8(String.format("%s%08d", prefix, i));
  }

  private static void fill(ManagedChannel channel, String prefix, int keys, int bytes, long lease) {
    ByteString value = ByteString.copyFrom(new byte[bytes]);
    int each = Math.min(KEYS_IN_TXN, Math.max(1, (1 << 20) / (bytes + 1)));
    for (int i = 0; i < keys; i += each) {
      TxnRequest.Builder txn = TxnRequest.newBuilder();
      for (int k = i; k < Math.min(keys, i + each); k++) {
        PutRequest.Builder put =
            PutRequest.newBuilder().setKey(key(prefix, k)).setValue(value).setLease(lease);
        txn.addSuccess(RequestOp.newBuilder().setRequestPut(put));
      }
      KVGrpc.newBlockingStub(channel).txn(txn.build());
    }
  }

  private static DeleteRangeRequest.Builder all(String prefix) {
    return DeleteRangeRequest.newBuilder()
        .setKey(ByteString.copyFromUtf8(prefix))
        .setRangeEnd(ByteString.copyFromUtf8(prefix + "~"));
  }

  private static long count(ManagedChannel channel, String prefix) {
    RangeRequest.Builder count =
        RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8(prefix))
            .setRangeEnd(ByteString.copyFromUtf8(prefix + "~"))
            .setCountOnly(true);
    return KVGrpc.newBlockingStub(channel).range(count.build()).getCount();
  }

  private static Watched watch(ManagedChannel channel, String prefix, boolean prev, boolean parts) {
    Watched watched = new Watched();
    StreamObserver<WatchRequest> requests = WatchGrpc.newStub(channel).watch(watched);
    WatchCreateRequest.Builder create =
        WatchCreateRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8(prefix))
            .setRangeEnd(ByteString.copyFromUtf8(prefix + "~"))
            .setPrevKv(prev);
    if (parts) {
      // The client's messages have a version without this field.
      UnknownFieldSet.Field yes = UnknownFieldSet.Field.newBuilder().addVarint(1).build();
      create.setUnknownFields(UnknownFieldSet.newBuilder().addField(FRAGMENT_FIELD, yes).build());
    }
    requests.onNext(WatchRequest.newBuilder().setCreateRequest(create).build());
    Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> watched.created);
    return watched;
  }

  /** A busy machine may need longer than the request timeout of the server (Q7). */
  private static void orTimeout(Runnable request) {
    try {
      request.run();
    } catch (StatusRuntimeException late) {
      assertThat(late).hasMessage("UNAVAILABLE: etcdserver: request timed out");
    }
  }

  private static void awaitNone(ManagedChannel channel, String prefix) {
    AtomicLong left = new AtomicLong(-1);
    Awaitility.await()
        .atMost(Duration.ofMinutes(3))
        .until(
            () -> {
              orTimeout(() -> left.set(count(channel, prefix)));
              return left.get() == 0;
            });
  }

  private NodeProcess member() {
    return NodeProcess.member(TestJdks.all().get(0), temp, "-Xmx" + HEAP)
        .setting("quota-backend-bytes", "17179869184")
        .start()
        .awaitReady();
  }

  private static void awaitDeletions(Watched watched, int keys) {
    Awaitility.await()
        .atMost(Duration.ofMinutes(3))
        .until(() -> watched.deletions.get() >= keys || !watched.end.isEmpty());
    assertThat(watched.end).isEmpty();
    assertThat(watched.deletions).hasValue(keys);
  }

  @Test
  void deletionOfManyKeysStopsNoMember_A1() {
    int keys = 275_000;
    try (NodeProcess member = member()) {
      ManagedChannel channel = connect(member);
      fill(channel, "small/", keys, 100, 0);
      Watched whole = watch(channel, "small/", false, false);
      Watched parts = watch(channel, "small/", false, true);
      Watched single = watch(channel, "small/0000007", true, false);
      orTimeout(
          () -> {
            DeleteRangeResponse deleted =
                KVGrpc.newBlockingStub(channel).deleteRange(all("small/").build());
            assertThat(deleted.getDeleted()).isEqualTo(keys);
          });
      awaitDeletions(whole, keys);
      assertThat(whole.responses).as("one response for one revision, W6").hasValue(1);
      awaitDeletions(parts, keys);
      assertThat(parts.responses).hasValueGreaterThan(10);
      awaitDeletions(single, 10);
      assertThat(single.previousBytes).hasValue(1000);
      awaitNone(channel, "small/");
      channel.shutdownNow();
      restartAfterKill(member, "small/");
    }
  }

  @Test
  void deletionOfLargeValuesStopsNoMember_A1() {
    int keys = 400;
    try (NodeProcess member = member()) {
      ManagedChannel channel = connect(member);
      fill(channel, "large/", keys, 1 << 20, 0);
      Watched parts = watch(channel, "large/", true, true);
      assertThatThrownBy(
              () ->
                  KVGrpc.newBlockingStub(channel)
                      .deleteRange(all("large/").setPrevKv(true).build()))
          .isInstanceOf(StatusRuntimeException.class)
          .hasMessage(
              "RESOURCE_EXHAUSTED: troupe: the request was applied, but its response needs more"
                  + " memory than there is for responses");
      assertThat(count(channel, "large/")).isZero();
      awaitDeletions(parts, keys);
      assertThat(parts.previousBytes).hasValue(400L << 20);
      channel.shutdownNow();
      restartAfterKill(member, "large/");
    }
  }

  @Test
  void expiryOfLeaseWithManyKeysStopsNoMember_A1() {
    try (NodeProcess member = member()) {
      ManagedChannel channel = connect(member);
      LeaseGrantRequest grant = LeaseGrantRequest.newBuilder().setID(7).setTTL(3600).build();
      LeaseGrpc.newBlockingStub(channel).leaseGrant(grant);
      int keys = 150_000;
      fill(channel, "lease/", keys, 100, 7);
      Watched parts = watch(channel, "lease/", false, true);
      LeaseRevokeRequest revoke = LeaseRevokeRequest.newBuilder().setID(7).build();
      orTimeout(() -> LeaseGrpc.newBlockingStub(channel).leaseRevoke(revoke));
      awaitNone(channel, "lease/");
      awaitDeletions(parts, keys);
      channel.shutdownNow();
      restartAfterKill(member, "lease/");
    }
  }

  /** The replay of the log applies the same entry again, with the same heap. */
  private static void restartAfterKill(NodeProcess member, String prefix) {
    member.kill();
    try (NodeProcess again = member.restart().awaitReady()) {
      ManagedChannel channel = connect(again);
      awaitNone(channel, prefix);
      channel.shutdownNow();
    }
  }
}
