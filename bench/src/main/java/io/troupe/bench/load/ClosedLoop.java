package io.troupe.bench.load;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.Reply;
import io.troupe.bench.report.Cell;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * Logical clients that have one unary request outstanding each and send the next when the reply has
 * arrived.
 */
final class ClosedLoop {
  private static final long PAUSE_AFTER_ERROR_MS = 10;
  private static final long DRAIN_SECONDS = 30;

  private final Connections connections;
  private final Window window;
  private final List<Recorder> recorders;
  private final CountDownLatch running;

  private ClosedLoop(Connections connections, int clients, Window window) {
    this.connections = connections;
    this.window = window;
    this.recorders = Recorder.list(connections.count());
    this.running = new CountDownLatch(clients);
  }

  /** Measures {@code clients} clients, each with its own workload, for the time of the settings. */
  static Cell measure(Target target, String profile, int clients, IntFunction<Workload> workloads) {
    try (Connections connections = target.connect(clients)) {
      target.awaitQuiet();
      Window window = Window.after(target.settings().warmUp(), target.settings().duration());
      ClosedLoop loop = new ClosedLoop(connections, clients, window);
      loop.start(clients, workloads);
      Window.waitUntil(window.from());
      Meter.Sample begin = target.meter().sample();
      Window.waitUntil(window.until());
      Meter.Sample end = target.meter().sample();
      loop.await();
      long operations = Recorder.merged(loop.recorders).getTotalCount();
      return target
          .meter()
          .cell(profile, Loads.clients(clients), operations, loop.recorders, begin, end);
    }
  }

  /**
   * Runs until the workload, shared by all clients, has no more requests.
   *
   * @throws IllegalStateException if a request failed
   */
  static void run(Connections connections, int clients, Workload shared) {
    ClosedLoop loop = new ClosedLoop(connections, clients, Window.ENDLESS);
    loop.start(clients, i -> shared);
    try {
      loop.running.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    if (Recorder.errors(loop.recorders) > 0) {
      throw new IllegalStateException(Recorder.errors(loop.recorders) + " requests failed");
    }
  }

  /**
   * Runs clients in the background as long as {@code window} is open.
   *
   * @return waits, when it is run, for the window's end and the last replies
   */
  static Runnable background(
      Connections connections, int clients, Window window, IntFunction<Workload> workloads) {
    ClosedLoop loop = new ClosedLoop(connections, clients, window);
    loop.start(clients, workloads);
    return () -> {
      Window.waitUntil(window.until());
      loop.await();
    };
  }

  private void start(int clients, IntFunction<Workload> workloads) {
    for (int i = 0; i < clients; i++) {
      new Client(i % connections.count(), workloads.apply(i)).send();
    }
  }

  private void await() {
    try {
      if (!running.await(DRAIN_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            running.getCount() + " clients received no reply for " + DRAIN_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** One client; also the listener of its calls, one after the other. */
  private final class Client extends ClientCall.Listener<Reply> {
    private final int connection;
    private final Recorder recorder;
    private final Workload workload;
    private Reply reply = Reply.NONE;
    private long started;

    Client(int connection, Workload workload) {
      this.connection = connection;
      this.recorder = recorders.get(connection);
      this.workload = workload;
    }

    void send() {
      long now = System.nanoTime();
      byte[] request = window.open(now) ? workload.next() : null;
      if (request == null) {
        running.countDown();
        return;
      }
      reply = Reply.NONE;
      started = now;
      ClientCall<byte[], Reply> call = connections.start(connection, workload.method(), this);
      call.request(2);
      call.sendMessage(request);
      call.halfClose();
    }

    @Override
    public void onMessage(Reply message) {
      reply = message;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      long now = System.nanoTime();
      if (status.isOk() && workload.accept(reply)) {
        if (window.contains(now)) {
          recorder.latency(now - started);
        }
        send();
      } else {
        recorder.error();
        // A server that is down responds immediately: the pause avoids a flood of requests.
        connections.loops().later(this::send, PAUSE_AFTER_ERROR_MS);
      }
    }
  }
}
