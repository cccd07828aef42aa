package io.troupe.bench.load;

import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.bench.report.Cell;
import io.troupe.bench.report.Latency;
import io.troupe.bench.report.ScalePoint;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Fills a server to a size and measures single requests at a load that a server of any size can
 * handle. Every read of many keys follows a put, so no cache of an earlier result hides its cost.
 */
public final class ScaleMeasurement {
  private static final int FILL_CLIENTS = 32;
  private static final int LEAST_REPEATS = 5;
  private static final int MOST_REPEATS = 500;
  private static final int REPEATED_REQUESTS = 5;
  private static final long CALL_TIMEOUT_MS = 600_000;

  /** A load that is paced by time may end this much too late. */
  private static final Duration LATE_END = Duration.ofSeconds(10);

  /** Least keys of a server that is measured: reads need some pages. */
  private static final int LEAST_KEYS = 10_000;

  private final Target target;
  private final ScaleKeys keys;
  private final List<ScalePoint> points = new ArrayList<>();
  private int size;
  private long oldRevision;
  private int oldKeys;
  private int past;
  private long errors;

  /** Whether a range response is right. */
  private interface Check {
    boolean test(RangeReply reply);
  }

  /**
   * @param sorted fills write their keys in the order of the names
   */
  public ScaleMeasurement(Target target, boolean sorted) {
    this.target = target;
    this.keys = new ScaleKeys(target.settings().valueBytes(), target.settings().seed(), sorted);
  }

  /** All figures so far. */
  public List<ScalePoint> points() {
    return List.copyOf(points);
  }

  /** Keys that the server has, 0 or more. */
  int keys() {
    return keys.written();
  }

  /** Keys that {@link #requests} writes at most, unless a load ends very late. */
  static long addedKeys(LoadSettings settings) {
    Duration paced = settings.warmUp().plus(settings.duration()).plus(LATE_END);
    return (long) REPEATED_REQUESTS * MOST_REPEATS + settings.rate() * paced.toSeconds();
  }

  /**
   * Least difference of a size to the one before, or to 0. At most half of it comes from {@link
   * #requests} at the size before.
   */
  public static long leastStep(LoadSettings settings) {
    return Math.max(LEAST_KEYS, 2 * addedKeys(settings));
  }

  /** Requests that failed or had a wrong response. */
  public long errors() {
    return errors;
  }

  /**
   * Writes keys until there are {@code newSize}; half-way it notes the revision for reads of the
   * past.
   *
   * @param newSize at least {@link #leastStep} more than the last one
   * @return keys per second
   * @throws IllegalArgumentException if the server has as many keys
   */
  public double fill(int newSize) {
    int before = keys.written();
    if (newSize <= before) {
      throw new IllegalArgumentException(
          "a fill to " + newSize + " keys of a server that has " + before);
    }
    size = newSize;
    long started = System.nanoTime();
    try (Connections connections = target.connect(FILL_CLIENTS)) {
      int half = before + (newSize - before) / 2;
      ClosedLoop.run(connections, FILL_CLIENTS, keys.fill(half));
      keys.written(half);
      oldRevision = Calls.revision(connections);
      oldKeys = half;
      ClosedLoop.run(connections, FILL_CLIENTS, keys.fill(newSize));
      keys.written(newSize);
    }
    return (newSize - before) / ((System.nanoTime() - started) / 1e9);
  }

  /**
   * Waits until the background work that a fill leaves has ended, at most this long. Records the
   * time.
   */
  public void settle(Duration longest) {
    long started = System.nanoTime();
    target.meter().awaitIdleServer(longest);
    add("background work after fill", ScalePoint.MS, (System.nanoTime() - started) / 1e6);
  }

  /**
   * Measures a server that an earlier fill left, in place of {@link #fill}. That fill may have been
   * interrupted. Reads of the past go to the second half of its keys.
   *
   * @return keys of the server, at least {@link #LEAST_KEYS}
   */
  public int adopt() {
    try (Connections connection = target.connect(1)) {
      size = Math.toIntExact(counted(connection, 0));
      // Transactions that the interruption lost leave gaps before the last keys.
      keys.adopt(size, LEAST_KEYS);
      oldRevision = Calls.revision(connection) - size / 2 / keys.batch();
      oldKeys = Math.toIntExact(counted(connection, oldRevision));
    }
    return size;
  }

  private long counted(Connections connection, long revision) {
    try {
      Reply reply = connection.call(EtcdMethod.RANGE_KEEP, keys.count(revision), CALL_TIMEOUT_MS);
      return RangeReply.read(reply.body()).count();
    } catch (IOException e) {
      throw new IllegalStateException("not a range response", e);
    }
  }

  /** Measures the requests. */
  public void requests() {
    try (Connections connection = target.connect(1)) {
      Recorder first = new Recorder();
      timed(connection, first, keys.count(0), this::hasAll);
      add("count, first", first);
      paced("put, new key", EtcdMethod.PUT, 1, keys::putNew);
      paced("put, overwrite", EtcdMethod.PUT, 1, keys::overwrite);
      paced("range, one key", EtcdMethod.RANGE, target.settings().valueBytes(), keys::get);
      repeated(
          connection, "page of 500", () -> keys.page(false, 0, size), ScaleMeasurement::isPage);
      repeated(
          connection, "page, keys only", () -> keys.page(true, 0, size), ScaleMeasurement::isPage);
      repeated(connection, "count, repeated", () -> keys.count(0), this::hasAll);
      repeated(
          connection,
          "page, old revision",
          () -> keys.page(false, past(), oldKeys),
          ScaleMeasurement::isPage);
      repeated(connection, "count, old revision", () -> keys.count(past()), this::hasPast);
    }
  }

  /** Records a figure that was measured elsewhere, for the current size. */
  public void add(String measurement, String unit, double value) {
    points.add(new ScalePoint(measurement, unit, size, value, Double.NaN));
  }

  /** Checks that no acknowledged key is missing, for example after a restart. */
  public void verify() {
    try (Connections connection = target.connect(1)) {
      timed(connection, new Recorder(), keys.count(0), this::hasAll);
    }
  }

  /**
   * Puts for the time of a measurement without reporting it, so that a restart has a log to read.
   */
  public void writeSome() {
    measured(EtcdMethod.PUT, 1, keys::overwrite);
  }

  private boolean hasAll(RangeReply reply) {
    return reply.count() == keys.written();
  }

  /**
   * A revision of the second half of the fill: another one each time, because a server may keep
   * what it has read of a past revision. Each transaction of the fill is one revision.
   */
  private long past() {
    past = keys.random(Math.max(1, (size - oldKeys) / keys.batch()));
    return oldRevision + past;
  }

  /** One transaction has fewer keys than the others, and may be any. */
  private boolean hasPast(RangeReply reply) {
    long most = oldKeys + (long) past * keys.batch();
    return reply.count() > most - keys.batch() && reply.count() <= most;
  }

  private static boolean isPage(RangeReply reply) {
    return reply.keys() == ScaleKeys.PAGE && reply.more() && reply.count() > ScaleKeys.PAGE;
  }

  private void paced(String name, EtcdMethod method, int leastBytes, Supplier<byte[]> requests) {
    Cell cell = measured(method, leastBytes, requests);
    Latency latency = cell.latency();
    points.add(new ScalePoint(name, ScalePoint.MS, size, latency.p50(), latency.p99()));
  }

  private Cell measured(EtcdMethod method, int leastBytes, Supplier<byte[]> requests) {
    Workload workload =
        new Workload() {
          @Override
          public byte[] next() {
            return requests.get();
          }

          @Override
          public EtcdMethod method() {
            return method;
          }

          @Override
          public boolean accept(Reply reply) {
            return reply.size() >= leastBytes;
          }
        };
    try (PacedLoad load = new PacedLoad(target, "scale", target.settings().rate(), workload)) {
      Window.waitUntil(System.nanoTime() + target.settings().warmUp().toNanos());
      load.begin("measured");
      Window.waitUntil(System.nanoTime() + target.settings().duration().toNanos());
      Cell cell = load.finish().get(0);
      errors += cell.errors();
      return cell;
    }
  }

  /**
   * One request at a time, each after a put of a new key; at least a few, even if they are slow,
   * and at most {@link #MOST_REPEATS}, because each adds a key.
   */
  private void repeated(
      Connections connection, String name, Supplier<byte[]> requests, Check check) {
    Recorder recorder = new Recorder();
    Duration time = target.settings().duration();
    long end = System.nanoTime() + time.toNanos();
    for (int i = 0; i < LEAST_REPEATS || (i < MOST_REPEATS && System.nanoTime() < end); i++) {
      connection.call(EtcdMethod.PUT, keys.putNew(), CALL_TIMEOUT_MS);
      timed(connection, recorder, requests.get(), check);
    }
    add(name, recorder);
  }

  private void timed(Connections connection, Recorder recorder, byte[] request, Check check) {
    long started = System.nanoTime();
    Reply reply = connection.call(EtcdMethod.RANGE_KEEP, request, CALL_TIMEOUT_MS);
    recorder.latency(System.nanoTime() - started);
    try {
      if (!check.test(RangeReply.read(reply.body()))) {
        errors++;
      }
    } catch (IOException e) {
      errors++;
    }
  }

  private void add(String name, Recorder recorder) {
    Latency latency = Latency.of(Recorder.merged(List.of(recorder)));
    points.add(new ScalePoint(name, ScalePoint.MS, size, latency.p50(), latency.p99()));
  }
}
