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
 * Puts at a fixed rate, regardless of the server. Latency counts from the moment a put was due, so
 * that a stall shows in all puts during it, not only in the first. Measured in phases that the
 * caller starts and ends.
 */
final class PacedPuts implements AutoCloseable {
  private static final int MAX_OUTSTANDING = 10_000;

  private final Connections connections;
  private final byte[][] puts;
  private final long intervalNanos;
  private final Meter meter;
  private final String profile;
  private final SplittableRandom random;
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

  /** Starts sending; puts before {@link #begin} are not reported. */
  PacedPuts(Target target, String profile) {
    this.connections = target.connect(4);
    this.puts = target.keyspace().puts();
    this.intervalNanos = 1_000_000_000L / target.settings().rate();
    this.meter = target.meter();
    this.profile = profile;
    this.random = new SplittableRandom(target.settings().seed());
    this.phase = new Phase("warm-up", connections.count(), meter.sample());
    this.sender = new Thread(this::sendAll, "bench-paced");
    sender.setDaemon(true);
    sender.start();
  }

  /**
   * Ends the current phase and starts the phase {@code name}; puts in flight count in the phase in
   * which they were due.
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
   * @throws IllegalStateException if puts receive no response
   */
  List<Cell> finish() {
    begin("end");
    stopped = true;
    try {
      sender.join();
      if (!outstanding.tryAcquire(MAX_OUTSTANDING, 30, TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            MAX_OUTSTANDING - outstanding.availablePermits() + " puts received no response");
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
      ClientCall<byte[], Reply> call =
          connections.start(
              connection, EtcdMethod.PUT, new Put(current.recorders.get(connection), due));
      call.request(2);
      call.sendMessage(puts[random.nextInt(puts.length)]);
      call.halfClose();
      due += intervalNanos;
    }
  }

  private final class Put extends ClientCall.Listener<Reply> {
    private final Recorder recorder;
    private final long due;

    Put(Recorder recorder, long due) {
      this.recorder = recorder;
      this.due = due;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (status.isOk()) {
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
