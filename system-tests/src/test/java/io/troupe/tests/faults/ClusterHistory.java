package io.troupe.tests.faults;

import io.troupe.model.Event;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.History;
import io.troupe.simulation.history.LeaseEnd;
import io.troupe.simulation.history.Request;
import io.troupe.simulation.history.WatchRecord;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * Calls and events of clients and watchers of processes; times are microseconds of this process's
 * clock. Thread-safe.
 */
final class ClusterHistory {
  private final long startNanos = System.nanoTime();
  private final List<Call> calls = new ArrayList<>();
  private final List<WatchRecord> watches = new ArrayList<>();

  long nowUs() {
    return (System.nanoTime() - startNanos) / 1000;
  }

  synchronized void add(Call call) {
    calls.add(call);
  }

  synchronized void add(WatchRecord watch) {
    watches.add(watch);
  }

  /** Calls so far, a copy. */
  synchronized List<Call> calls() {
    return List.copyOf(calls);
  }

  /** Completed reads and writes. */
  synchronized long answered() {
    return calls.stream().filter(c -> c.answer() instanceof Answer.Done).count();
  }

  private static boolean isAcknowledgedWrite(Call call) {
    return call.request() instanceof Request.Write && call.answer() instanceof Answer.Done;
  }

  /** Acknowledged writes that began at or after that time. */
  synchronized long acknowledgedSince(long us) {
    return calls.stream().filter(c -> isAcknowledgedWrite(c) && c.invokedUs() >= us).count();
  }

  /** Acknowledged writes that began and ended in that interval. */
  synchronized long acknowledgedBetween(long fromUs, long toUs) {
    return calls.stream()
        .filter(c -> isAcknowledgedWrite(c) && c.invokedUs() >= fromUs && c.returnedUs() <= toUs)
        .count();
  }

  /** The longest time between two acknowledged writes, and since the last one. */
  synchronized long longestSilenceUs() {
    long longest = 0;
    long before = -1;
    for (Call call : calls) {
      if (isAcknowledgedWrite(call)) {
        longest = before < 0 ? 0 : Math.max(longest, call.returnedUs() - before);
        before = call.returnedUs();
      }
    }
    return before < 0 ? nowUs() : Math.max(longest, nowUs() - before);
  }

  /** Watchers so far, a copy. */
  synchronized List<WatchRecord> watches() {
    return List.copyOf(watches);
  }

  /**
   * The history for the checkers. No call may be in progress.
   *
   * @param committed events by revision
   */
  synchronized History toHistory(SortedMap<Long, List<Event>> committed) {
    History history = new History();
    calls.forEach(history::add);
    watches.forEach(history::add);
    leaseEnds().forEach(history::add);
    committed.forEach(history::committed);
    return history;
  }

  /**
   * No client observes the expiry of a lease directly. When its owner receives "not found", the
   * lease has expired, so a TTL that reaches further was violated.
   */
  private List<LeaseEnd> leaseEnds() {
    Map<Long, Long> ends = new HashMap<>();
    for (Call call : calls) {
      long lease = toldGone(call);
      if (lease != 0) {
        ends.merge(lease, call.returnedUs(), Math::min);
      }
    }
    List<LeaseEnd> list = new ArrayList<>();
    ends.forEach((lease, at) -> list.add(new LeaseEnd(lease, at)));
    return list;
  }

  /** The lease that this response reports as not found; 0 if none. */
  private static long toldGone(Call call) {
    if (call.request() instanceof Request.KeepAlive renewal) {
      boolean gone = call.answer() instanceof Answer.Renewed told && told.ttlSeconds() == 0;
      return gone ? renewal.lease() : 0;
    }
    if (call.request() instanceof Request.Write write
        && call.answer() instanceof Answer.Done done
        && done.result() instanceof Result.Refused refused
        && refused.reason() == Refusal.LEASE_NOT_FOUND) {
      return write.operation() instanceof Operation.Put put
          ? put.lease()
          : ((Operation.LeaseRevoke) write.operation()).id();
    }
    return 0;
  }

  /** Writes everything as text, one call or response per line. */
  synchronized void write(Path file) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (Call call : calls) {
        out.write(call.toString());
        out.newLine();
      }
      for (WatchRecord watch : watches) {
        out.write(watch.asked().toString());
        out.newLine();
        for (var reply : watch.replies()) {
          out.write("  " + reply);
          out.newLine();
        }
      }
    }
  }
}
