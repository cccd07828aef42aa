package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.bench.report.Cell;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The profile "idle-memory": the resident memory that watchers and leases add to a server while
 * nothing happens.
 */
final class IdleMemory {
  static final String NAME = "idle-memory";

  private static final int STREAMS = 10;
  private static final int CLIENTS = 100;
  private static final long FIRST_LEASE = 0x1d1e00000000L;
  private static final long TTL_SECONDS = 3600;
  private static final long TIMEOUT_SECONDS = 120;

  private final Target target;
  private final List<Cell> cells = new ArrayList<>();
  private long before;

  private IdleMemory(Target target) {
    this.target = target;
  }

  /**
   * Measures watchers that share ten streams, watchers with a stream each, and leases, one after
   * the other; what was measured is closed after it.
   *
   * @return for each, the number, the bytes that each added, the time until all existed, and the
   *     resident memory with all of them
   */
  static List<Cell> measure(Target target) {
    IdleMemory memory = new IdleMemory(target);
    OpenSizes sizes = target.settings().open();
    memory.watchers("watchers", sizes.watchers(), Math.min(STREAMS, sizes.watchers()));
    memory.watchers("watch streams", sizes.streams(), sizes.streams());
    memory.leases(sizes.leases());
    return memory.cells;
  }

  private void watchers(String what, int total, int streams) {
    settle();
    try (Connections connections = target.connect(STREAMS)) {
      long started = System.nanoTime();
      Created created = new Created(total);
      for (int i = 0; i < streams; i++) {
        created.open(connections, i, total / streams + (i < total % streams ? 1 : 0));
      }
      created.await();
      measured(what, total, System.nanoTime() - started);
    }
  }

  private void leases(int total) {
    settle();
    try (Connections connections = target.connect(CLIENTS)) {
      long started = System.nanoTime();
      ClosedLoop.run(connections, CLIENTS, FillKeys.leases(FIRST_LEASE, total, TTL_SECONDS));
      measured("leases", total, System.nanoTime() - started);
      ClosedLoop.run(
          connections,
          CLIENTS,
          new FillKeys(
              EtcdMethod.LEASE_REVOKE,
              total,
              i -> LeaseRevokeRequest.newBuilder().setID(FIRST_LEASE + i).build().toByteArray()));
    }
  }

  private void settle() {
    target.awaitQuiet();
    pause();
    before = target.meter().rssBytes();
  }

  private void measured(String what, int total, long nanos) {
    pause();
    long bytes = target.meter().rssBytes();
    Recorder time = new Recorder();
    time.latency(nanos);
    double each = bytes < 0 ? Double.NaN : (double) (bytes - before) / total;
    cells.add(Meter.memory(NAME, total + " " + what + ", bytes each", total, each, time, bytes));
  }

  private void pause() {
    Window.waitUntil(System.nanoTime() + target.settings().duration().toNanos());
  }

  /** The watchers, each on a key of its own. */
  private static final class Created {
    private final CountDownLatch left;
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private int keys;

    Created(int total) {
      this.left = new CountDownLatch(total);
    }

    void open(Connections connections, int stream, int watchers) {
      ClientCall<byte[], Reply> call =
          connections.start(stream % connections.count(), EtcdMethod.WATCH, new Stream());
      call.request(Integer.MAX_VALUE);
      for (int i = 0; i < watchers; i++) {
        call.sendMessage(
            WatchRequest.newBuilder()
                .setCreateRequest(
                    WatchCreateRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("idle/" + keys++)))
                .build()
                .toByteArray());
      }
    }

    void await() {
      try {
        boolean all = left.await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        Exception failed = failure.get();
        if (!all || failed != null) {
          throw new IllegalStateException(
              left.getCount() + " watchers were not created: " + failed, failed);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    private void failed(Exception reason) {
      failure.compareAndSet(null, reason);
      while (left.getCount() > 0) {
        left.countDown();
      }
    }

    private final class Stream extends ClientCall.Listener<Reply> implements WatchEvents.Receiver {
      @Override
      public void onMessage(Reply message) {
        try {
          WatchEvents.read(message.body(), this);
        } catch (IOException e) {
          failed(e);
        }
      }

      @Override
      public void created() {
        left.countDown();
      }

      @Override
      public void event(WatchEvents.Event event) {
        failed(new IOException("an event of a key that has no writer"));
      }

      @Override
      public void canceled() {
        failed(new IOException("the server canceled a watcher"));
      }

      @Override
      public void onClose(Status status, Metadata trailers) {
        failed(status.asRuntimeException());
      }
    }
  }
}
