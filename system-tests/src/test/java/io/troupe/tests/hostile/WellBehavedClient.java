package io.troupe.tests.hostile;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A client with its own thread that writes and reads small values continuously and records the
 * times. Calls time out after 20 s.
 */
final class WellBehavedClient implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 20;

  /** A member that stopped refuses calls as fast as a client makes them. */
  private static final int MAX_FAILURES = 10_000;

  private final ManagedChannel channel;
  private final Thread thread = new Thread(this::work, "well-behaved-client");
  private final List<Long> nanos = Collections.synchronizedList(new ArrayList<>());
  private final List<StatusRuntimeException> failures =
      Collections.synchronizedList(new ArrayList<>());
  private volatile boolean stopped;
  private volatile @Nullable AssertionError wrong;

  /**
   * What was recorded.
   *
   * @param calls writes and reads
   * @param p99Ms of their times, and the longest
   * @param failures calls that failed
   */
  record Figures(
      int calls, long p50Ms, long p99Ms, long maxMs, List<StatusRuntimeException> failures) {
    @Override
    public String toString() {
      return "calls="
          + calls
          + " p50-ms="
          + p50Ms
          + " p99-ms="
          + p99Ms
          + " max-ms="
          + maxMs
          + " failures="
          + failures;
    }
  }

  private final ByteString key;

  private WellBehavedClient(Target target, String key) {
    this.key = ByteString.copyFromUtf8(key);
    channel = target.channel();
  }

  /** Connects, and starts after its first successful calls. */
  static WellBehavedClient start(Target target) {
    return start(target, "well-behaved");
  }

  /**
   * {@link #start(Target)}.
   *
   * @param key that no other client writes
   */
  static WellBehavedClient start(Target target, String key) {
    WellBehavedClient client = new WellBehavedClient(target, key);
    client.once(0);
    client.nanos.clear();
    client.thread.start();
    return client;
  }

  private void work() {
    for (long i = 1; !stopped; i++) {
      try {
        once(i);
      } catch (StatusRuntimeException failed) {
        if (!stopped) {
          failures.add(failed);
          if (failures.size() >= MAX_FAILURES) {
            wrong = new AssertionError("too many failed calls, the last one: " + failed);
            return;
          }
        }
      } catch (AssertionError lost) {
        wrong = lost;
        return;
      }
    }
  }

  private void once(long number) {
    KVGrpc.KVBlockingStub calls =
        KVGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    ByteString value = ByteString.copyFromUtf8(Long.toString(number));
    long start = System.nanoTime();
    calls.put(PutRequest.newBuilder().setKey(key).setValue(value).build());
    long between = System.nanoTime();
    nanos.add(between - start);
    ByteString read =
        calls.range(RangeRequest.newBuilder().setKey(key).build()).getKvs(0).getValue();
    nanos.add(System.nanoTime() - between);
    if (!read.equals(value)) {
      throw new AssertionError("read " + read.toStringUtf8() + " after a write of " + number);
    }
  }

  /** Calls since the last {@link #figures}. */
  int calls() {
    return nanos.size();
  }

  /** Records since the start or the last call of this method. */
  Figures figures() {
    AssertionError lost = wrong;
    if (lost != null) {
      throw lost;
    }
    List<Long> sorted;
    synchronized (nanos) {
      sorted = new ArrayList<>(nanos);
      nanos.clear();
    }
    List<StatusRuntimeException> failed;
    synchronized (failures) {
      failed = List.copyOf(failures);
      failures.clear();
    }
    Collections.sort(sorted);
    return new Figures(
        sorted.size(), at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1), List.copyOf(failed));
  }

  private static long at(List<Long> sorted, double part) {
    if (sorted.isEmpty()) {
      return Long.MAX_VALUE;
    }
    int place = (int) Math.min(sorted.size() - 1, Math.floor(part * sorted.size()));
    return TimeUnit.NANOSECONDS.toMillis(sorted.get(place));
  }

  @Override
  public void close() {
    stopped = true;
    channel.shutdownNow();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
