package io.troupe.simulation.check;

import static io.troupe.simulation.check.Histories.A;
import static io.troupe.simulation.check.Histories.kv;
import static io.troupe.simulation.check.Histories.leasedPut;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Event;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.history.LeaseEnd;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests the checks of leases, serializable reads, compaction, and committed events. */
class OtherChecksTest {
  private static final long SECOND = 1_000_000;
  private static final KeyValue A2 = kv(A, 2, 2, 1, "x");

  private static void leases(Histories history, LeaseEnd... ends) {
    LeaseCheck.check(history.calls, List.of(ends));
  }

  private static void breaks(String what, Runnable check) {
    assertThatThrownBy(check::run).isInstanceOf(Violation.class).hasMessageContaining(what);
  }

  @Test
  void leaseMayEndOnlyAfterItsTime() {
    Histories granted = new Histories().granted(0, 10, 7, 2);
    leases(granted, new LeaseEnd(7, 2 * SECOND));
    breaks("before its time", () -> leases(granted, new LeaseEnd(7, 2 * SECOND - 1)));
  }

  @Test
  void renewalsMoveTheEnd() {
    Histories renewed = new Histories().granted(0, 10, 7, 2).renewed(SECOND, SECOND + 10, 7, 2);
    leases(renewed, new LeaseEnd(7, 3 * SECOND));
    breaks("before its time", () -> leases(renewed, new LeaseEnd(7, 3 * SECOND - 1)));
  }

  @Test
  void requestedRevokeMayEndLeaseEarly() {
    Histories revoked = new Histories().granted(0, 10, 7, 2);
    revoked.unknown(20, new Operation.LeaseRevoke(7));
    leases(revoked, new LeaseEnd(7, 30));
    breaks("before its time", () -> leases(revoked, new LeaseEnd(7, 15)));
  }

  @Test
  void renewalByOldLeaderIsDetected() {
    Histories old = new Histories().granted(0, 10, 7, 2).renewed(9 * SECOND, 9 * SECOND + 10, 7, 2);
    breaks("renewed after its end", () -> leases(old, new LeaseEnd(7, 3 * SECOND)));
  }

  @Test
  void existingLeaseMustNotBeReportedAsGone() {
    Histories gone = new Histories().granted(0, 10, 7, 2).renewed(SECOND, SECOND + 10, 7, 0);
    breaks("reported as gone", () -> leases(gone));
    Histories put = new Histories().granted(0, 10, 7, 2);
    put.done(20, 30, leasedPut(A, "x", 7), new Result.Refused(Refusal.LEASE_NOT_FOUND));
    breaks("refused while", () -> leases(put));
    breaks(
        "ended twice",
        () ->
            leases(
                new Histories().granted(0, 10, 7, 2),
                new LeaseEnd(7, 3 * SECOND),
                new LeaseEnd(7, 3 * SECOND)));
  }

  @Test
  void memberMayLagButNotGoBack() {
    Histories other =
        new Histories().serializable(0, 10, 1, A, 3).serializable(20, 30, 2, A, 2, A2);
    SerializableCheck.check(other.calls);
    Histories back = new Histories().serializable(0, 10, 1, A, 3).serializable(20, 30, 1, A, 2, A2);
    breaks("went back", () -> SerializableCheck.check(back.calls));
    Histories beside =
        new Histories().serializable(0, 30, 1, A, 3).serializable(20, 40, 1, A, 2, A2);
    SerializableCheck.check(beside.calls);
  }

  @Test
  void onlyCompactedRevisionsAreRefused() {
    Operation.Compact five = new Operation.Compact(5);
    Histories accepted = new Histories().done(0, 10, five, new Result.Compact(9));
    accepted.readRefused(20, 30, A, 4, Refusal.COMPACTED);
    CompactionCheck.check(accepted.calls);
    accepted.read(40, 50, 4, A, 9, false, 1, A2);
    breaks("was read", () -> CompactionCheck.check(accepted.calls));
    Histories early = new Histories().readRefused(0, 10, A, 4, Refusal.COMPACTED);
    early.done(20, 30, five, new Result.Compact(9));
    breaks("without a compaction", () -> CompactionCheck.check(early.calls));
    Histories exactly = new Histories().done(0, 10, five, new Result.Compact(9));
    exactly.readRefused(20, 30, A, 5, Refusal.COMPACTED);
    breaks("without a compaction", () -> CompactionCheck.check(exactly.calls));
    Histories twice = new Histories().done(0, 10, five, new Result.Compact(9));
    twice.done(20, 30, five, new Result.Compact(9));
    breaks("compacted twice", () -> CompactionCheck.check(twice.calls));
  }

  private static void committed(Map<Long, List<Event>> events) {
    SortedMap<Long, List<Event>> sorted = new TreeMap<>(events);
    CommittedCheck.check(sorted);
  }

  @Test
  void committedEventsMustBeConsistent() {
    Event first = new Event(Event.Type.PUT, A2, null);
    KeyValue a3 = kv(A, 2, 3, 2, "y");
    Event second = new Event(Event.Type.PUT, a3, A2);
    committed(Map.of(2L, List.of(first), 3L, List.of(second), 4L, List.of(Event.delete(A, 4, a3))));
    breaks("missing", () -> committed(Map.of(2L, List.of(first), 4L, List.of(second))));
    breaks(
        "prev",
        () ->
            committed(
                Map.of(2L, List.of(first), 3L, List.of(new Event(Event.Type.PUT, a3, null)))));
    breaks(
        "version",
        () ->
            committed(
                Map.of(
                    2L,
                    List.of(first),
                    3L,
                    List.of(new Event(Event.Type.PUT, kv(A, 2, 3, 3, "y"), A2)))));
    breaks(
        "create revision",
        () ->
            committed(
                Map.of(
                    2L,
                    List.of(first),
                    3L,
                    List.of(new Event(Event.Type.PUT, kv(A, 3, 3, 2, "y"), A2)))));
    breaks("deletion of nothing", () -> committed(Map.of(2L, List.of(Event.delete(A, 2, null)))));
  }
}
