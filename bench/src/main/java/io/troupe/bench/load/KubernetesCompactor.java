package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.PutRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Compacts at an interval, each time at the revision of the time before: the history of one to two
 * intervals stays readable. The revision is kept in a key, like that of an apiserver.
 */
final class KubernetesCompactor implements AutoCloseable {
  private static final ByteString KEY = ByteString.copyFromUtf8("compact_rev_key");
  private static final long TIMEOUT_MS = 60_000;

  private final Connections connection;
  private final Thread thread;
  private volatile @Nullable RuntimeException failure;

  private KubernetesCompactor(Target target, Duration interval) {
    this.connection = target.connect(1);
    this.thread = new Thread(() -> run(interval), "bench-compactor");
    thread.setDaemon(true);
    thread.start();
  }

  /** Starts, if the settings have an interval. */
  static @Nullable KubernetesCompactor start(Target target) {
    Duration interval = target.settings().compactEvery();
    return interval.isZero() ? null : new KubernetesCompactor(target, interval);
  }

  private void run(Duration interval) {
    try {
      long revision = Calls.revision(connection);
      while (true) {
        Thread.sleep(interval.toMillis());
        long next = Calls.revision(connection);
        byte[] put =
            PutRequest.newBuilder()
                .setKey(KEY)
                .setValue(ByteString.copyFromUtf8(Long.toString(revision)))
                .build()
                .toByteArray();
        connection.call(EtcdMethod.PUT, put, TIMEOUT_MS);
        byte[] compact = CompactionRequest.newBuilder().setRevision(revision).build().toByteArray();
        connection.call(EtcdMethod.COMPACT, compact, TIMEOUT_MS);
        revision = next;
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } catch (IllegalStateException e) {
      if (!Thread.currentThread().isInterrupted()) {
        failure = e;
      }
    }
  }

  /**
   * Stops.
   *
   * @throws RuntimeException if a compaction failed
   */
  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connection.close();
    RuntimeException failed = failure;
    if (failed != null) {
      throw failed;
    }
  }
}
