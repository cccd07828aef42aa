package io.troupe.tests.faults;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Linearizable reads of one client, all of which must succeed. As clientv3 does with calls that may
 * be repeated, it repeats a read with the next member only after UNAVAILABLE, until the deadline of
 * the call.
 */
final class RepeatedReads implements AutoCloseable {
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(15);
  private static final long BACKOFF_MS = 25;
  private static final RangeRequest READ =
      RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8("repeated")).build();

  private final TestCluster cluster;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();
  private final AtomicLong answered = new AtomicLong();
  private final Thread thread;

  /** Starts the client. */
  RepeatedReads(TestCluster cluster) {
    this.cluster = cluster;
    this.thread = new Thread(this::run, "repeated-reads");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    List<Integer> members = new ArrayList<>(cluster.members());
    int at = 0;
    try {
      while (!stop.await(5, TimeUnit.MILLISECONDS)) {
        at = read(members, at);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      failures.add("the client ended: " + e);
    }
  }

  /** One call; returns the position of the member that the next call goes to. */
  private int read(List<Integer> members, int first) throws InterruptedException {
    long end = System.nanoTime() + DEADLINE_NANOS;
    int at = first;
    while (true) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      try {
        cluster.calls(members.get(at)).call(KVGrpc.getRangeMethod(), READ, Math.max(1, leftMs));
        answered.incrementAndGet();
        return at;
      } catch (StatusRuntimeException e) {
        if (e.getStatus().getCode() != Status.Code.UNAVAILABLE || leftMs <= 0) {
          failures.add(e.getStatus() + " of member " + members.get(at));
          return (at + 1) % members.size();
        }
        at = (at + 1) % members.size();
        if (stop.await(BACKOFF_MS, TimeUnit.MILLISECONDS)) {
          return at;
        }
      }
    }
  }

  /** Reads that succeeded. */
  long answered() {
    return answered.get();
  }

  /** Reads that failed. */
  List<String> failures() {
    return List.copyOf(failures);
  }

  @Override
  public void close() throws InterruptedException {
    stop.countDown();
    thread.join(TimeUnit.NANOSECONDS.toMillis(2 * DEADLINE_NANOS));
    if (thread.isAlive()) {
      throw new AssertionError("a read does not end");
    }
  }
}
