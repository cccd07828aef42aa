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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Logical clients that have one unary request outstanding each and send the next when the reply has
 * arrived.
 */
final class ClosedLoop {
  private static final long PAUSE_AFTER_ERROR_MS = 10;
  private static final long DRAIN_SECONDS = 30;

  private final Connections connections;
  private final Window window;

  /** By connection, then by kind. */
  private final List<List<Recorder>> recorders;

  private final CountDownLatch running;
  private volatile @Nullable Status firstFailure;

  private ClosedLoop(Connections connections, int kinds, int clients, Window window) {
    this.connections = connections;
    this.window = window;
    this.recorders =
        Stream.generate(() -> Recorder.list(kinds)).limit(connections.count()).toList();
    this.running = new CountDownLatch(clients);
  }

  /** Measures {@code clients} clients, each with its own workload, for the time of the settings. */
  static Cell measure(Target target, String profile, int clients, IntFunction<Workload> workloads) {
    try (Connections connections = target.connect(clients)) {
      target.awaitQuiet();
      Window window = Window.after(target.settings().warmUp(), target.settings().duration());
      ClosedLoop loop = start(connections, 1, clients, window, workloads);
      Window.waitUntil(window.from());
      Meter.Sample begin = target.meter().sample();
      Window.waitUntil(window.until());
      Meter.Sample end = target.meter().sample();
      loop.await();
      List<Recorder> all = loop.recorders();
      return target
          .meter()
          .cell(profile, Loads.clients(clients), Recorder.count(all), all, begin, end);
    }
  }

  /**
   * Runs until the workload, shared by all clients, has no more requests.
   *
   * @throws IllegalStateException if a request failed
   */
  static void run(Connections connections, int clients, Workload shared) {
    ClosedLoop loop = start(connections, 1, clients, Window.ENDLESS, i -> shared);
    try {
      loop.running.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    if (Recorder.errors(loop.recorders()) > 0) {
      throw new IllegalStateException(
          Recorder.errors(loop.recorders())
              + " requests failed, the first with "
              + loop.firstFailure);
    }
  }

  /**
   * Runs clients in the background as long as {@code window} is open.
   *
   * @return waits, when it is run, for the window's end and the last replies
   */
  static Runnable background(
      Connections connections, int clients, Window window, IntFunction<Workload> workloads) {
    ClosedLoop loop = start(connections, 1, clients, window, workloads);
    return () -> {
      Window.waitUntil(window.until());
      loop.await();
    };
  }

  /**
   * Starts clients that send as long as {@code window} is open.
   *
   * @param kinds kinds of requests that the workloads distinguish, 1 or more
   */
  static ClosedLoop start(
      Connections connections,
      int kinds,
      int clients,
      Window window,
      IntFunction<Workload> workloads) {
    ClosedLoop loop = new ClosedLoop(connections, kinds, clients, window);
    for (int i = 0; i < clients; i++) {
      loop.new Client(i % connections.count(), workloads.apply(i)).send();
    }
    return loop;
  }

  /** The recorders of all kinds; read after {@link #await}. */
  List<Recorder> recorders() {
    return recorders.stream().flatMap(List::stream).toList();
  }

  /** The recorders of one kind; read after {@link #await}. */
  List<Recorder> recorders(int kind) {
    return recorders.stream().map(kinds -> kinds.get(kind)).toList();
  }

  /**
   * Waits for the last replies, after the end of the window.
   *
   * @throws IllegalStateException if a client receives none
   */
  void await() {
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
    private final List<Recorder> kinds;
    private final Workload workload;
    private Reply reply = Reply.NONE;
    private long started;

    Client(int connection, Workload workload) {
      this.connection = connection;
      this.kinds = recorders.get(connection);
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
          kinds.get(workload.kind()).latency(now - started);
        }
        send();
      } else {
        kinds.get(workload.kind()).error();
        if (firstFailure == null) {
          firstFailure = status;
        }
        // A server that is down responds immediately: the pause avoids a flood of requests.
        connections.loops().later(this::send, PAUSE_AFTER_ERROR_MS);
      }
    }
  }
}
