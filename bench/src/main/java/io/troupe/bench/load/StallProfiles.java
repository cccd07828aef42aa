package io.troupe.bench.load;

import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.report.Cell;
import io.troupe.bench.report.Figures;
import io.troupe.grpc.api.CompactionRequest;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Runs a heavy operation while puts arrive at a fixed rate, and measures its effect on their
 * latency.
 */
final class StallProfiles {
  private static final long CALL_TIMEOUT_MS = 600_000;
  private static final int READERS = 2;

  private StallProfiles() {}

  /** Puts before, during and after the compaction of a long history. */
  static List<Cell> compaction(Target target) {
    Profiles.fill(target, target.settings().history());
    target.awaitQuiet();
    try (PacedLoad puts = PacedLoad.puts(target, "compaction");
        Connections connection = target.connect(1)) {
      pause(target.settings().warmUp());
      puts.begin("before");
      pause(target.settings().duration());
      long revision = Calls.revision(connection);
      byte[] request =
          CompactionRequest.newBuilder()
              .setRevision(revision)
              .setPhysical(true)
              .build()
              .toByteArray();
      puts.begin("during");
      long started = System.nanoTime();
      connection.call(EtcdMethod.COMPACT, request, CALL_TIMEOUT_MS);
      double seconds = (System.nanoTime() - started) / 1e9;
      puts.begin("after");
      pause(target.settings().duration());
      System.out.println(
          "compaction of "
              + Figures.count((double) revision)
              + " revisions took "
              + Figures.number(seconds)
              + " s");
      return puts.finish();
    }
  }

  /** Puts before, during and after two clients read all keys repeatedly. */
  static List<Cell> longRead(Target target) {
    byte[] all = target.keyspace().all(false).toByteArray();
    int leastBytes = target.keyspace().size() * target.settings().valueBytes();
    target.awaitQuiet();
    try (PacedLoad puts = PacedLoad.puts(target, "long-read");
        Connections connections = target.connect(READERS)) {
      pause(target.settings().warmUp());
      puts.begin("before");
      pause(target.settings().duration());
      puts.begin("during");
      Window window = Window.after(Duration.ZERO, target.settings().duration());
      Runnable lastReply =
          ClosedLoop.background(
              connections,
              READERS,
              window,
              i ->
                  new RandomRequests(
                      EtcdMethod.RANGE, 1, n -> all, leastBytes, new SplittableRandom(i)));
      Window.waitUntil(window.until());
      lastReply.run();
      puts.begin("after");
      pause(target.settings().duration());
      return puts.finish();
    }
  }

  private static void pause(Duration time) {
    Window.waitUntil(System.nanoTime() + time.toNanos());
  }
}
