package io.troupe.bench.load;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Latencies and errors of one connection; used only by its thread, read when the load has ended.
 */
final class Recorder {
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Histogram nanos = new Histogram(1000, LONGEST_NANOS, 3);
  private long errors;

  void latency(long value) {
    nanos.recordValue(Math.max(0, Math.min(value, LONGEST_NANOS)));
  }

  void error() {
    errors++;
  }

  long errors() {
    return errors;
  }

  static long count(List<Recorder> recorders) {
    return recorders.stream().mapToLong(recorder -> recorder.nanos.getTotalCount()).sum();
  }

  static Histogram merged(List<Recorder> recorders) {
    Histogram all = new Histogram(1000, LONGEST_NANOS, 3);
    recorders.forEach(r -> all.add(r.nanos));
    return all;
  }

  static long errors(List<Recorder> recorders) {
    return recorders.stream().mapToLong(Recorder::errors).sum();
  }

  static List<Recorder> list(int count) {
    return java.util.stream.Stream.generate(Recorder::new).limit(count).toList();
  }
}
