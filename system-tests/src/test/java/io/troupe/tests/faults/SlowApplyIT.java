package io.troupe.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.MoveLeaderRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.testing.FreePort;
import io.troupe.testing.NeedsRoot;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.OwnHeap;
import io.troupe.tests.process.TestJdks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A follower whose state is on a hanging disk, so that it applies nothing, while its log on another
 * disk accepts entries. Needs root for the mount; fails without.
 */
@Alone
@NeedsRoot
@OwnHeap
class SlowApplyIT {
  private static final int MEMBERS = 3;
  private static final int SLOW = 2;
  private static final int MEBIBYTE = 1 << 20;

  private static final String HEAP = "256m";

  /** Of a MiB each: much more than the heap of the follower. */
  private static final int PUTS = 600;

  private static final int KEYS = 20;
  private static final ByteString SMALL = ByteString.copyFromUtf8("small");
  private static final int LONGEST_SECONDS = 240;
  private static final Duration TIMEOUT = Duration.ofMinutes(3);

  @TempDir Path directory = Path.of("");

  private final List<NodeProcess> members = new ArrayList<>();
  private final List<ManagedChannel> channels = new ArrayList<>();

  @AfterEach
  void stop() {
    channels.forEach(ManagedChannel::shutdownNow);
    members.forEach(NodeProcess::close);
  }

  private void start(Path slowData) {
    List<String> urls = new ArrayList<>();
    List<String> cluster = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      urls.add("http://127.0.0.1:" + FreePort.next());
      cluster.add("n" + i + "=" + urls.get(i));
    }
    for (int i = 0; i < MEMBERS; i++) {
      NodeProcess.Builder member =
          NodeProcess.member(TestJdks.running(), directory.resolve("n" + i), "-Xmx" + HEAP)
              .named("n" + i)
              .setting("name", "n" + i)
              .setting("store.write-buffer-bytes", "4MiB")
              .setting("initial-cluster", String.join(",", cluster))
              .setting("listen-peer-urls", urls.get(i))
              .setting("initial-advertise-peer-urls", urls.get(i));
      if (i == SLOW) {
        member
            .setting("data-dir", slowData.toString())
            .setting("wal-dir", directory.resolve("log").toString());
      }
      members.add(member.start());
    }
    for (NodeProcess member : members) {
      member.awaitReady();
      channels.add(
          Grpc.newChannelBuilder(member.endpoint(), InsecureChannelCredentials.create()).build());
    }
  }

  private KVGrpc.KVBlockingStub kv(int member) {
    return KVGrpc.newBlockingStub(channels.get(member)).withDeadlineAfter(10, TimeUnit.SECONDS);
  }

  private StatusResponse status(int member) {
    return MaintenanceGrpc.newBlockingStub(channels.get(member))
        .withDeadlineAfter(30, TimeUnit.SECONDS)
        .status(StatusRequest.getDefaultInstance());
  }

  private void followWithTheSlowMember() {
    StatusResponse slow = status(SLOW);
    if (slow.getLeader() == slow.getHeader().getMemberId()) {
      MaintenanceGrpc.newBlockingStub(channels.get(SLOW))
          .moveLeader(
              MoveLeaderRequest.newBuilder()
                  .setTargetID(status(0).getHeader().getMemberId())
                  .build());
    }
    Awaitility.await("another leader")
        .atMost(TIMEOUT)
        .ignoreException(StatusRuntimeException.class)
        .until(
            () -> {
              long leader = status(0).getLeader();
              return leader != 0 && leader != slow.getHeader().getMemberId();
            });
  }

  private void put(int number) {
    ByteString value =
        ByteString.copyFromUtf8(number + "-").concat(ByteString.copyFrom(new byte[MEBIBYTE]));
    ByteString key = ByteString.copyFromUtf8("k" + number % KEYS);
    kv(0).put(PutRequest.newBuilder().setKey(key).setValue(value).build());
  }

  private void putSmall() {
    kv(0).put(PutRequest.newBuilder().setKey(SMALL).setValue(SMALL).build());
  }

  /** A serializable read of {@link #putSmall}'s key. */
  private RangeResponse small(int member) {
    return kv(member).range(RangeRequest.newBuilder().setKey(SMALL).setSerializable(true).build());
  }

  private boolean hasApplied(int number) {
    RangeRequest range =
        RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("k" + number % KEYS))
            .setSerializable(true)
            .build();
    ByteString prefix = ByteString.copyFromUtf8(number + "-");
    try {
      return kv(SLOW).range(range).getKvsList().stream()
          .anyMatch(read -> read.getValue().startsWith(prefix));
    } catch (StatusRuntimeException late) {
      // Reads may wait for the disk too, and find no state during the installation of a snapshot.
      assertThat(late.getStatus().getCode())
          .as(members.get(SLOW).toString())
          .isIn(Status.Code.DEADLINE_EXCEEDED, Status.Code.UNAVAILABLE);
      return false;
    }
  }

  @Test
  void followerThatAppliesNothingKeepsItsMemoryAndCatchesUp_A4() throws Exception {
    try (LoopDisk disk = new LoopDisk(directory)) {
      start(disk.data());
      followWithTheSlowMember();
      put(0);
      Awaitility.await("applied").atMost(TIMEOUT).until(() -> hasApplied(0));
      putSmall();
      Awaitility.await("applied").atMost(TIMEOUT).until(() -> small(SLOW).getCount() == 1);
      disk.freeze(LONGEST_SECONDS);
      long start = System.nanoTime();
      for (int i = 1; i < PUTS; i++) {
        put(i);
      }
      long puts = System.nanoTime();
      assertThat(hasApplied(PUTS - 1)).as("the disk hangs").isFalse();
      assertThat(small(SLOW).getKvs(0).getValue())
          .as("a record in memory is read although the disk hangs")
          .isEqualTo(SMALL);
      assertThat(members.get(SLOW).isAlive()).isTrue();
      disk.thaw();
      Awaitility.await("catches up").atMost(TIMEOUT).until(() -> hasApplied(PUTS - 1));
      System.out.printf(
          "slow apply: puts=%d puts-s=%.1f caught-up-after-s=%.1f%n",
          PUTS, (puts - start) / 1e9, (System.nanoTime() - puts) / 1e9);
      for (NodeProcess member : members) {
        assertThat(member.isAlive()).as(member.toString()).isTrue();
        assertThat(member.err().lines().filter(line -> line.contains(" ERROR "))).isEmpty();
      }
      members.forEach(NodeProcess::close);
    }
  }
}
