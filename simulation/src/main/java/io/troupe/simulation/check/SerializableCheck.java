package io.troupe.simulation.check;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks serializable reads. They may be stale, but within one run of a member they never go back:
 * a read that starts after another one of that run has ended returns at least its revision. The
 * linearizability check verifies that the returned state existed.
 *
 * @source etcd surface 2.3 (G1)
 */
public final class SerializableCheck {
  private record Read(Call call, long revision) {}

  private SerializableCheck() {}

  /**
   * Checks all reads.
   *
   * @throws Violation if one went back
   */
  public static void check(List<Call> calls) {
    Map<Long, List<Read>> bySession = new HashMap<>();
    for (Call call : calls) {
      if (call.request() instanceof Request.Read
          && call.answer() instanceof Answer.Done done
          && done.result() instanceof Result.Range range) {
        bySession
            .computeIfAbsent(call.session(), session -> new ArrayList<>())
            .add(new Read(call, range.range().revision()));
      }
    }
    bySession.values().forEach(SerializableCheck::checkSession);
  }

  private static void checkSession(List<Read> reads) {
    List<Read> byBegin =
        reads.stream().sorted(Comparator.comparingLong(r -> r.call().invokedUs())).toList();
    List<Read> byEnd =
        reads.stream().sorted(Comparator.comparingLong(r -> r.call().returnedUs())).toList();
    int ended = 0;
    Read newest = null;
    for (Read read : byBegin) {
      while (byEnd.get(ended).call().returnedUs() < read.call().invokedUs()) {
        Read end = byEnd.get(ended++);
        newest = newest == null || end.revision() > newest.revision() ? end : newest;
      }
      if (newest != null) {
        require(read.revision() >= newest.revision(), "a member went back", read, newest);
      }
    }
  }
}
