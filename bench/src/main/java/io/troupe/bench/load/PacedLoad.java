package io.troupe.bench.load;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.bench.report.Cell;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Requests at a fixed rate, regardless of the server. Latency counts from the moment a request was
 * due, so that a stall shows in all requests during it, not only in the first. Measured in phases
 * that the caller starts and ends.
 */
final class PacedLoad implements AutoCloseable {
  private static final int MAX_OUTSTANDING = 10_000;

  private final Connections connections;
  private final Workload workload;
  private final long intervalNanos;
  private final Meter meter;
  private final String profile;
  private final Semaphore outstanding = new Semaphore(MAX_OUTSTANDING);
  private final Thread sender;
  private volatile boolean stopped;
  private final List<Phase> ended = new ArrayList<>();
  private volatile Phase phase;

  /** The records between two calls of {@link #begin}. */
  private static final class Phase {
    final String name;
    final List<Recorder> recorders;
    final Meter.Sample begin;
    Meter.Sample end;

    Phase(String name, int connections, Meter.Sample begin) {
      this.name = name;
      this.recorders = Recorder.list(connections);
      this.begin = begin;
      this.end = begin;
    }
  }

  /** Puts of random keys at the rate of the settings. */
  static PacedLoad puts(Target target, String profile) {
    RandomRequests puts =
        new RandomRequests(
            EtcdMethod.PUT,
            target.keyspace().size(),
            target.keyspace().puts(),
            1,
            new SplittableRandom(target.settings().seed()));
    return new PacedLoad(target, profile, target.settings().rate(), puts);
  }

  /**
   * Starts sending; requests before {@link #begin} are not reported.
   *
   * @param rate requests per second
   * @param workload does not end; accepts a reply by its content alone, because several requests
   *     are outstanding
   */
  PacedLoad(Target target, String profile, int rate, Workload workload) {
    this.connections = target.connect(4);
    this.workload = workload;
    this.intervalNanos = 1_000_000_000L / rate;
    this.meter = target.meter();
    this.profile = profile;
    this.phase = new Phase("warm-up", connections.count(), meter.sample());
    this.sender = new Thread(this::sendAll, "bench-paced");
    sender.setDaemon(true);
    sender.start();
  }

  /**
   * Ends the current phase and starts the phase {@code name}; requests in flight count in the phase
   * in which they were due.
   */
  void begin(String name) {
    Meter.Sample now = meter.sample();
    phase.end = now;
    ended.add(phase);
    phase = new Phase(name, connections.count(), now);
  }

  /**
   * Ends the last phase and the load.
   *
   * @return all phases except the warm-up, in order
   * @throws IllegalStateException if requests receive no response
   */
  List<Cell> finish() {
    begin("end");
    stopped = true;
    try {
      sender.join();
      if (!outstanding.tryAcquire(MAX_OUTSTANDING, 30, TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            MAX_OUTSTANDING - outstanding.availablePermits() + " requests received no response");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return ended.stream().skip(1).map(this::cell).toList();
  }

  private Cell cell(Phase measured) {
    long operations = Recorder.merged(measured.recorders).getTotalCount();
    return meter.cell(
        profile, measured.name, operations, measured.recorders, measured.begin, measured.end);
  }

  private void sendAll() {
    int connection = 0;
    long due = System.nanoTime();
    while (!stopped) {
      Window.waitUntil(due);
      outstanding.acquireUninterruptibly();
      Phase current = phase;
      connection = (connection + 1) % connections.count();
      byte[] request = workload.next();
      if (request == null) {
        throw new IllegalStateException("a paced workload must not end");
      }
      ClientCall<byte[], Reply> call =
          connections.start(
              connection, workload.method(), new Call(current.recorders.get(connection), due));
      call.request(2);
      call.sendMessage(request);
      call.halfClose();
      due += intervalNanos;
    }
  }

  private final class Call extends ClientCall.Listener<Reply> {
    private final Recorder recorder;
    private final long due;
    private Reply reply = Reply.NONE;

    Call(Recorder recorder, long due) {
      this.recorder = recorder;
      this.due = due;
    }

    @Override
    public void onMessage(Reply message) {
      reply = message;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (status.isOk() && workload.accept(reply)) {
        recorder.latency(System.nanoTime() - due);
      } else {
        recorder.error();
      }
      // Last, because a thread that holds all permits may read the recorders.
      outstanding.release();
    }
  }

  @Override
  public void close() {
    stopped = true;
    connections.close();
  }
}
