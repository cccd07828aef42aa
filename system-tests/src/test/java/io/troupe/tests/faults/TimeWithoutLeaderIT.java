package io.troupe.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.StatusRuntimeException;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Time from kill -9 of the leader to the next accepted write, three members on one machine,
 * election timeout 1 s. {@code -Dtroupe.failover.rounds} (default 3) sets the rounds; {@code
 * -Dtroupe.etcd} names the binary of an etcd to measure instead.
 */
@Alone
@HeapIndependent
class TimeWithoutLeaderIT {
  private static final int MEMBERS = 3;
  private static final String ETCD = System.getProperty("troupe.etcd", "");
  private static final int ROUNDS = Integer.getInteger("troupe.failover.rounds", 3);

  private final Path temp;
  private final List<NodeProcess> processes = new ArrayList<>();
  private final List<MemberCalls> calls = new ArrayList<>();
  private final List<Integer> clientPorts = ports();
  private final List<Integer> peerPorts = ports();

  TimeWithoutLeaderIT(@TempDir Path temp) {
    this.temp = temp;
  }

  private static List<Integer> ports() {
    return IntStream.range(0, MEMBERS).mapToObj(n -> FreePort.next()).toList();
  }

  @Test
  void writesContinueAfterLeaderKill() throws Exception {
    List<Long> times =
        ETCD.isEmpty() ? measure(this::troupe) : measure(member -> etcd(ETCD, member));
    report(ETCD.isEmpty() ? "troupe" : "etcd", times);
    assertThat(times.get(times.size() / 2)).as("median, ms").isLessThan(4000);
  }

  private static void report(String what, List<Long> times) throws Exception {
    String line =
        what
            + " rounds="
            + times.size()
            + " median-ms="
            + times.get(times.size() / 2)
            + " longest-ms="
            + times.get(times.size() - 1)
            + " all="
            + times;
    System.out.println("failover " + line);
    Path file = Path.of("target", "cluster", "failover-" + what + ".txt");
    Files.createDirectories(file.getParent());
    Files.writeString(file, line + "\n");
  }

  private interface Making {
    NodeProcess start(int member);
  }

  private String url(List<Integer> ports, int member) {
    return "http://127.0.0.1:" + ports.get(member);
  }

  private String initial() {
    return IntStream.range(0, MEMBERS)
        .mapToObj(n -> "m" + n + "=" + url(peerPorts, n))
        .collect(Collectors.joining(","));
  }

  private NodeProcess troupe(int member) {
    return NodeProcess.member(TestJdks.all().get(0), temp.resolve("m" + member))
        .setting("name", "m" + member)
        .setting("listen-client-urls", url(clientPorts, member))
        .setting("listen-peer-urls", url(peerPorts, member))
        .setting("initial-advertise-peer-urls", url(peerPorts, member))
        .setting("initial-cluster", initial())
        .start();
  }

  private NodeProcess etcd(String binary, int member) {
    return NodeProcess.program(
            temp.resolve("m" + member),
            binary,
            "--name=m" + member,
            "--data-dir=" + temp.resolve("m" + member).resolve("data"),
            "--listen-client-urls=" + url(clientPorts, member),
            "--advertise-client-urls=" + url(clientPorts, member),
            "--listen-peer-urls=" + url(peerPorts, member),
            "--initial-advertise-peer-urls=" + url(peerPorts, member),
            "--initial-cluster=" + initial())
        .start();
  }

  /** Sorted, in milliseconds. */
  private List<Long> measure(Making making) throws Exception {
    try {
      for (int member = 0; member < MEMBERS; member++) {
        processes.add(making.start(member));
        calls.add(new MemberCalls("127.0.0.1:" + clientPorts.get(member)));
      }
      List<Long> times = new ArrayList<>();
      for (int round = 0; round < ROUNDS; round++) {
        awaitAllFollow();
        int leader = leader();
        times.add(killAndTime(leader));
        processes.set(leader, processes.get(leader).restart());
      }
      return times.stream().sorted().toList();
    } finally {
      calls.forEach(MemberCalls::close);
      processes.forEach(NodeProcess::close);
    }
  }

  private long killAndTime(int leader) throws InterruptedException {
    AtomicLong killedAt = new AtomicLong(Long.MAX_VALUE);
    AtomicBoolean over = new AtomicBoolean();
    CountDownLatch accepted = new CountDownLatch(1);
    AtomicLong acceptedAt = new AtomicLong();
    List<Thread> writers = new ArrayList<>();
    for (int member = 0; member < MEMBERS; member++) {
      int at = member;
      Thread writer =
          new Thread(
              () -> {
                while (!over.get()) {
                  long began = System.nanoTime();
                  if (put(at, 500) && began > killedAt.get()) {
                    acceptedAt.compareAndSet(0, System.nanoTime());
                    accepted.countDown();
                    return;
                  }
                }
              });
      writer.start();
      writers.add(writer);
    }
    // Warms the connections up.
    Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> put(leader, 1000));
    processes.get(leader).kill();
    long killed = System.nanoTime();
    killedAt.set(killed);
    boolean inTime = accepted.await(60, TimeUnit.SECONDS);
    over.set(true);
    for (Thread writer : writers) {
      writer.join();
    }
    assertThat(inTime).as("a write after the leader was killed").isTrue();
    return (acceptedAt.get() - killed) / 1_000_000;
  }

  private boolean put(int member, long deadlineMs) {
    try {
      ByteString key = ByteString.copyFromUtf8("failover" + member);
      calls
          .get(member)
          .call(KVGrpc.getPutMethod(), PutRequest.newBuilder().setKey(key).build(), deadlineMs);
      return true;
    } catch (StatusRuntimeException e) {
      return false;
    }
  }

  /** Each member acknowledges a write and reports the same leader. */
  private void awaitAllFollow() {
    Awaitility.await("all members follow one leader")
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(100))
        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
        .until(
            () -> {
              List<Long> leaders = new ArrayList<>();
              for (int member = 0; member < MEMBERS; member++) {
                if (!put(member, 1000)) {
                  return false;
                }
                leaders.add(calls.get(member).status(3000).getLeader());
              }
              return leaders.get(0) != 0 && leaders.stream().distinct().count() == 1;
            });
  }

  private int leader() {
    for (int member = 0; member < MEMBERS; member++) {
      StatusResponse status = calls.get(member).status(10_000);
      if (status.getLeader() == status.getHeader().getMemberId()) {
        return member;
      }
    }
    throw new AssertionError("no leader");
  }
}
