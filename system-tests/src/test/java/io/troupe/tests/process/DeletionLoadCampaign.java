package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KVGrpc;
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
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Another client puts during one large deletion, and two watchers get every event in order. Prints
 * the duration of the deletion, the latency of the puts, and the peak of the resident memory.
 *
 * <p>Part of no profile. Settings: {@code -Dtroupe.deletion.keys}, {@code
 * -Dtroupe.deletion.values}, {@code -Dtroupe.deletion.members} (1 or 3), {@code
 * -Dtroupe.deletion.heap}.
 */
@Alone
@OwnHeap
class DeletionLoadCampaign {
  private static final int KEYS = Integer.getInteger("troupe.deletion.keys", 200_000);
  private static final int VALUES = Integer.getInteger("troupe.deletion.values", 100);
  private static final int MEMBERS = Integer.getInteger("troupe.deletion.members", 3);
  private static final String HEAP = System.getProperty("troupe.deletion.heap", "256m");
  private static final Duration TIMEOUT = Duration.ofMinutes(30);
  private static final int KEYS_IN_TXN = 5000;

  /** Field of WatchCreateRequest. */
  private static final int FRAGMENT_FIELD = 8;

  @TempDir Path directory = Path.of("");

  private final List<NodeProcess> members = new ArrayList<>();
  private final List<ManagedChannel> channels = new ArrayList<>();

  @AfterEach
  void stop() {
    channels.forEach(ManagedChannel::shutdownNow);
    members.forEach(NodeProcess::close);
  }

  /** Counts the deletions of a watch stream, and checks their order. */
  private static final class Watched implements StreamObserver<WatchResponse> {
    private final AtomicInteger deletions = new AtomicInteger();
    private volatile boolean created;
    private volatile String end = "";
    private ByteString last = ByteString.EMPTY;

    @Override
    public void onNext(WatchResponse response) {
      created |= response.getCreated();
      for (Event event : response.getEventsList()) {
        if (event.getType() == Event.EventType.DELETE) {
          ByteString key = event.getKv().getKey();
          if (ByteString.unsignedLexicographicalComparator().compare(key, last) <= 0) {
            end = "after " + last.toStringUtf8() + " came " + key.toStringUtf8();
          }
          last = key;
          deletions.incrementAndGet();
        }
      }
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

  /** Puts small values in sequence. */
  private static final class Putter extends Thread {
    private final KVGrpc.KVBlockingStub calls;
    private final List<Long> nanos = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private volatile boolean stopped;

    Putter(ManagedChannel channel) {
      super("putter");
      calls = KVGrpc.newBlockingStub(channel);
    }

    @Override
    public void run() {
      PutRequest put =
          PutRequest.newBuilder()
              .setKey(ByteString.copyFromUtf8("other"))
              .setValue(ByteString.copyFromUtf8("value"))
              .build();
      while (!stopped) {
        long start = System.nanoTime();
        try {
          calls.put(put);
        } catch (StatusRuntimeException failed) {
          failures.add(failed.getMessage());
        }
        nanos.add(System.nanoTime() - start);
      }
    }

    String figures() throws InterruptedException {
      stopped = true;
      join();
      Collections.sort(nanos);
      return "puts=%d p50-ms=%d p99-ms=%d max-ms=%d failures=%s"
          .formatted(nanos.size(), at(0.5), at(0.99), at(1), failures);
    }

    private long at(double part) {
      int place = (int) Math.min(nanos.size() - 1, Math.floor(part * nanos.size()));
      return TimeUnit.NANOSECONDS.toMillis(nanos.get(place));
    }
  }

  private void start() {
    List<String> urls = new ArrayList<>();
    List<String> cluster = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      urls.add("http://127.0.0.1:" + FreePort.next());
      cluster.add("n" + i + "=" + urls.get(i));
    }
    for (int i = 0; i < MEMBERS; i++) {
      members.add(
          NodeProcess.member(TestJdks.running(), directory.resolve("n" + i), "-Xmx" + HEAP)
              .named("n" + i)
              .setting("name", "n" + i)
              .setting("quota-backend-bytes", "17179869184")
              .setting("max-txn-ops", Integer.toString(KEYS_IN_TXN))
              .setting("initial-cluster", String.join(",", cluster))
              .setting("listen-peer-urls", urls.get(i))
              .setting("initial-advertise-peer-urls", urls.get(i))
              .start());
    }
    members.forEach(NodeProcess::awaitReady);
  }

  private ManagedChannel connect(int member) {
    ManagedChannel channel =
        Grpc.newChannelBuilder(
                members.get(member % MEMBERS).endpoint(), InsecureChannelCredentials.create())
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .build();
    channels.add(channel);
    return channel;
  }

  private static void fill(ManagedChannel channel, String prefix, int keys, int bytes) {
    ByteString value = ByteString.copyFrom(new byte[bytes]);
    int each = Math.min(KEYS_IN_TXN, Math.max(1, (1 << 20) / (bytes + 1)));
    for (int i = 0; i < keys; i += each) {
      TxnRequest.Builder txn = TxnRequest.newBuilder();
      for (int k = i; k < Math.min(keys, i + each); k++) {
        txn.addSuccess(
            RequestOp.newBuilder()
                .setRequestPut(
                    PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(String.format("%s%08d", prefix, k)))
                        .setValue(value)));
      }
      KVGrpc.newBlockingStub(channel).txn(txn.build());
    }
  }

  /** In fragments: one message with all previous values would exceed the message limit. */
  private static Watched watch(ManagedChannel channel, String prefix, boolean prev) {
    Watched watched = new Watched();
    // The client's messages have a version without this field.
    UnknownFieldSet.Field yes = UnknownFieldSet.Field.newBuilder().addVarint(1).build();
    WatchCreateRequest.Builder create =
        WatchCreateRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8(prefix))
            .setRangeEnd(ByteString.copyFromUtf8(prefix + "~"))
            .setPrevKv(prev)
            .setUnknownFields(UnknownFieldSet.newBuilder().addField(FRAGMENT_FIELD, yes).build());
    WatchGrpc.newStub(channel)
        .watch(watched)
        .onNext(WatchRequest.newBuilder().setCreateRequest(create).build());
    Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> watched.created);
    return watched;
  }

  /** Highest resident memory so far, in MiB. */
  private static long peakMib(NodeProcess member) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/" + member.pid() + "/status"))) {
      if (line.startsWith("VmHWM:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) / 1024;
      }
    }
    throw new IllegalStateException("no VmHWM");
  }

  private void deleteBesidePuts(String what, int keys, int bytes) throws Exception {
    String prefix = what + "/";
    ManagedChannel channel = connect(0);
    long begin = System.nanoTime();
    fill(channel, prefix, keys, bytes);
    long filled = System.nanoTime();
    Watched plain = watch(connect(1), prefix, false);
    Watched previous = watch(connect(2), prefix, true);
    Putter putter = new Putter(connect(1));
    putter.start();
    DeleteRangeRequest deletion =
        DeleteRangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8(prefix))
            .setRangeEnd(ByteString.copyFromUtf8(prefix + "~"))
            .build();
    long start = System.nanoTime();
    String outcome = "answered";
    try {
      KVGrpc.newBlockingStub(channel).deleteRange(deletion);
    } catch (StatusRuntimeException late) {
      // A busy machine may need longer than the request timeout of the server (Q7).
      assertThat(late).hasMessageStartingWith("UNAVAILABLE: etcdserver: request timed out");
      outcome = "timed-out";
    }
    long answered = System.nanoTime();
    Awaitility.await()
        .atMost(TIMEOUT)
        .ignoreException(StatusRuntimeException.class)
        .until(() -> count(channel, prefix) == 0);
    long deleted = System.nanoTime();
    String puts = putter.figures();
    for (Watched watched : List.of(plain, previous)) {
      Awaitility.await()
          .atMost(TIMEOUT)
          .until(() -> watched.deletions.get() >= keys || !watched.end.isEmpty());
      assertThat(watched.end).isEmpty();
      assertThat(watched.deletions).hasValue(keys);
    }
    List<Long> peaks = new ArrayList<>();
    for (NodeProcess member : members) {
      assertThat(member.isAlive()).as(member.toString()).isTrue();
      peaks.add(peakMib(member));
    }
    System.out.printf(
        "deletion of %s keys=%d bytes=%d members=%d heap=%s fill-s=%.1f %s-after-s=%.1f"
            + " deleted-after-s=%.1f watchers-after-s=%.1f %s peak-rss-mib=%s%n",
        what,
        keys,
        bytes,
        MEMBERS,
        HEAP,
        (filled - begin) / 1e9,
        outcome,
        (answered - start) / 1e9,
        (deleted - start) / 1e9,
        (System.nanoTime() - start) / 1e9,
        puts,
        peaks);
  }

  private static long count(ManagedChannel channel, String prefix) {
    return KVGrpc.newBlockingStub(channel)
        .range(
            RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(prefix))
                .setRangeEnd(ByteString.copyFromUtf8(prefix + "~"))
                .setCountOnly(true)
                .build())
        .getCount();
  }

  @Test
  void watchersGetEveryDeletionInOrderWhileOthersPut_A1() throws Exception {
    start();
    deleteBesidePuts("small", KEYS, 100);
    deleteBesidePuts("large", VALUES, 1 << 20);
  }
}
