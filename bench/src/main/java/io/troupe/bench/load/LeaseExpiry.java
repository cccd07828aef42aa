package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.report.Cell;
import io.troupe.grpc.api.PutRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The profile "lease-expiry": many leases, each with one key, expire at the same time, because they
 * were renewed at the same time. Puts at a fixed rate before, during and after that.
 */
final class LeaseExpiry {
  static final String NAME = "lease-expiry";

  private static final ByteString PREFIX = ByteString.copyFromUtf8("leased/");
  private static final long FIRST_LEASE = 0x1ea5e00000000L;
  private static final String UNTIL_EXPIRY = "until expiry";
  private static final int CLIENTS = 100;
  private static final int LEASES_PER_SECOND = 1000;

  private LeaseExpiry() {}

  /**
   * Measures one wave of expiries.
   *
   * @return before, during, after, the renewal of all leases, and the work: leases per second from
   *     the first to the last deleted key
   */
  static List<Cell> measure(Target target) {
    int total = target.settings().open().expiring();
    long seconds = target.settings().duration().toSeconds() + 1;
    // Time to grant and attach. A lease that expired before its renewal is an error.
    long ttl = seconds + 5 + total / LEASES_PER_SECOND;
    try (Connections connections = target.connect(CLIENTS)) {
      attach(connections, total, ttl);
      target.awaitQuiet();
      try (PacedLoad puts = PacedLoad.puts(target, NAME);
          Deletions deletions = Deletions.of(connections, PREFIX, total)) {
        pause(target.settings().warmUp());
        Recorder renewal = new Recorder();
        long renewalNanos = Renewals.run(connections, FIRST_LEASE, total);
        renewal.latency(renewalNanos);
        puts.begin("before");
        pause(target.settings().duration());
        puts.begin(UNTIL_EXPIRY);
        // A server may delete no more than 100 leases per second, and still succeeds.
        long timeout = 2 * ttl + total / 100 + 60;
        long firstNanos = deletions.awaitFirst(timeout);
        puts.begin("during");
        long lastNanos;
        long peakBytes;
        try (PeakMemory memory = new PeakMemory(target.meter())) {
          lastNanos = deletions.awaitLast(timeout);
          peakBytes = memory.peakBytes();
        }
        puts.begin("after");
        pause(target.settings().duration());
        List<Cell> cells = new ArrayList<>(puts.finish());
        cells.removeIf(cell -> cell.load().equals(UNTIL_EXPIRY));
        cells.add(
            Meter.work(NAME, "renewal of all leases", total, renewalNanos, renewal, peakBytes));
        Recorder work = new Recorder();
        work.latency(lastNanos - firstNanos);
        cells.add(
            Meter.work(
                NAME,
                "the work, leases",
                total,
                Math.max(1, lastNanos - firstNanos),
                work,
                peakBytes));
        return cells;
      }
    }
  }

  private static void attach(Connections connections, int total, long ttl) {
    ClosedLoop.run(connections, CLIENTS, FillKeys.leases(FIRST_LEASE, total, ttl));
    ClosedLoop.run(
        connections,
        CLIENTS,
        new FillKeys(
            EtcdMethod.PUT,
            total,
            i ->
                PutRequest.newBuilder()
                    .setKey(PREFIX.concat(ByteString.copyFromUtf8(Integer.toString(i))))
                    .setValue(PREFIX)
                    .setLease(FIRST_LEASE + i)
                    .build()
                    .toByteArray()));
  }

  private static void pause(Duration time) {
    Window.waitUntil(System.nanoTime() + time.toNanos());
  }
}
