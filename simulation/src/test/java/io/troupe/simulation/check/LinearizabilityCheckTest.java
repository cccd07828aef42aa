package io.troupe.simulation.check;

import static io.troupe.simulation.check.Histories.A;
import static io.troupe.simulation.check.Histories.B;
import static io.troupe.simulation.check.Histories.kv;
import static io.troupe.simulation.check.Histories.leasedPut;
import static io.troupe.simulation.check.Histories.putIfModified;
import static io.troupe.simulation.check.Histories.putOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import java.util.List;
import org.junit.jupiter.api.Test;

class LinearizabilityCheckTest {
  private static final KeyValue A2 = kv(A, 2, 2, 1, "x");
  private static final KeyValue A3 = kv(A, 2, 3, 2, "y");

  private static Histories two() {
    return new Histories().put(0, 10, A, "x", 2).put(20, 30, A, "y", 3);
  }

  private static void holds(Histories history) {
    assertThat(LinearizabilityCheck.check(history.calls, null))
        .isEqualTo(LinearizabilityCheck.Verdict.HOLDS);
  }

  private static void breaks(Histories history, String what) {
    assertThatThrownBy(() -> LinearizabilityCheck.check(history.calls, null))
        .isInstanceOf(Violation.class)
        .hasMessageContaining(what);
  }

  @Test
  void readsInOrderHold() {
    holds(two().read(40, 50, A, 3, A3).read(12, 15, A, 2, A2));
  }

  @Test
  void concurrentReadMaySeeEither() {
    holds(two().read(21, 29, A, 2, A2));
    holds(two().read(21, 29, A, 3, A3));
  }

  @Test
  void staleReadIsDetected() {
    breaks(two().read(40, 50, A, 2, A2), "stale read");
  }

  @Test
  void serializableReadMayBeStaleButNotInvented() {
    holds(two().serializable(40, 50, 1, A, 2, A2));
    breaks(two().serializable(40, 50, 1, A, 2, A3), "wrong read");
  }

  @Test
  void readThatAnotherReadProvesStaleIsDetected() {
    Histories history = new Histories().put(0, 10, A, "x", 2);
    history.put(20, 100, A, "y", 3).read(25, 30, A, 3, A3).read(40, 50, A, 2, A2);
    breaks(history, "stale read");
  }

  @Test
  void readOfFutureRevisionIsDetected() {
    breaks(two().read(12, 15, A, 3, A3), "a later write has an earlier revision");
  }

  @Test
  void lostWriteIsDetected() {
    breaks(two().put(40, 50, B, "z", 4).read(60, 70, A, 4, A2), "wrong read");
    Histories lost = new Histories().put(0, 10, A, "x", 2).put(20, 30, B, "y", 2);
    breaks(lost, "two writes made one revision");
  }

  @Test
  void writeWithoutResultMayHaveTakenEffectOrNot() {
    Histories maybe = new Histories().put(0, 10, A, "x", 2).unknown(20, putOf(A, "y"));
    holds(maybe);
    holds(maybe.read(40, 50, A, 2, A2).read(60, 70, A, 3, A3));
  }

  @Test
  void writeWithoutResultTakesEffectOnceAndNotBeforeItsStart() {
    Histories twice = new Histories().put(0, 10, A, "x", 2).unknown(20, putOf(A, "y"));
    twice.read(40, 50, A, 3, A3).put(60, 70, A, "z", 4);
    holds(twice);
    breaks(twice.read(80, 90, A, 5, kv(A, 2, 5, 4, "y")), "no call can have made revision 5");
    breaks(
        new Histories().read(0, 10, A, 2, A2).unknown(20, putOf(A, "x")),
        "no call can have made revision 2");
  }

  @Test
  void refusedWriteMustNotBeVisible() {
    Histories refused =
        new Histories().refused(0, 10, putOf(A, "x"), Refusal.NO_LEADER).read(20, 30, A, 2, A2);
    breaks(refused, "no call can have made revision 2");
  }

  @Test
  void searchTriesOtherWritersOfRevision() {
    // Only the second of the open writes is possible, and that shows three revisions later.
    Histories open = new Histories().unknown(0, putOf(A, "p")).unknown(0, putOf(B, "q"));
    open.put(10, 20, A, "x", 3).put(30, 40, A, "y", 4);
    holds(open.read(50, 60, A, 4, kv(A, 3, 4, 2, "y")));
    breaks(open.read(50, 60, A, 4, kv(A, 4, 4, 1, "y")), "");
  }

  @Test
  void compareAndPutIsChecked() {
    Result.Txn good = new Result.Txn(3, true, List.of(new Result.Put(3, null)));
    holds(new Histories().put(0, 10, A, "x", 2).done(20, 30, putIfModified(A, 2, "y"), good));
    breaks(
        new Histories().put(0, 10, A, "x", 2).done(20, 30, putIfModified(A, 1, "y"), good),
        "changes nothing has a revision");
    Result.Txn failed =
        new Result.Txn(
            2, false, List.of(new Result.Range(new RangeResult(2, List.of(A2), false, 1))));
    holds(new Histories().put(0, 10, A, "x", 2).done(20, 30, putIfModified(A, 1, "y"), failed));
    breaks(
        new Histories().put(0, 10, A, "x", 2).done(20, 30, putIfModified(A, 2, "y"), failed),
        "changed nothing");
  }

  /** The record has the part of the response that was gathered. */
  @Test
  void writeWithTooLargeResponseTakesEffectAtItsRevision() {
    Operation.Put put = new Operation.Put(A, Bytes.utf8("y"), 0, true, false, false);
    Result tooLarge = new Result.ResponseTooLarge(new Result.Put(3, null));
    Histories history = new Histories().put(0, 10, A, "x", 2).done(20, 30, put, tooLarge);
    holds(history);
    holds(history.read(40, 50, A, 3, A3));
    Histories lost = new Histories().put(0, 10, A, "x", 2).done(20, 30, put, tooLarge);
    breaks(lost.read(40, 50, A, 2, A2), "stale read");
    Histories other = new Histories().put(0, 10, A, "x", 2).done(20, 30, put, tooLarge);
    breaks(other.put(40, 50, B, "z", 3), "two writes made one revision");
  }

  @Test
  void gatheredPartOfTooLargeResponseIsChecked() {
    Operation.Txn txn =
        new Operation.Txn(
            List.of(),
            List.of(
                new Operation.DeleteRange(KeyRange.single(A), true),
                new Operation.Put(B, Bytes.utf8("z"), 0, true, false, false)),
            List.of());
    holds(two().done(40, 50, txn, part(4, new Result.DeleteRange(4, 1, List.of(A3)))));
    holds(two().done(40, 50, txn, part(4, new Result.DeleteRange(4, 1, List.of()))));
    breaks(
        two().done(40, 50, txn, part(4, new Result.DeleteRange(4, 1, List.of(A2)))),
        "wrong result");
    breaks(two().done(40, 50, txn, part(4, new Result.DeleteRange(4, 2, List.of()))), "wrong");
  }

  private static Result part(long revision, Result first) {
    return new Result.ResponseTooLarge(
        new Result.Txn(revision, true, List.of(first, Result.NotGathered.INSTANCE)));
  }

  @Test
  void twoCompareAndPutsCannotBothWin() {
    Histories both = new Histories().put(0, 10, A, "x", 2);
    both.done(
        20,
        30,
        putIfModified(A, 2, "y"),
        new Result.Txn(3, true, List.of(new Result.Put(3, null))));
    both.done(
        20,
        30,
        putIfModified(A, 2, "z"),
        new Result.Txn(4, true, List.of(new Result.Put(4, null))));
    breaks(both, "changes nothing has a revision");
  }

  @Test
  void deletionsReturnDeletedKeys() {
    Operation.DeleteRange delete = new Operation.DeleteRange(KeyRange.single(A), true);
    holds(two().done(40, 50, delete, new Result.DeleteRange(4, 1, List.of(A3))));
    breaks(two().done(40, 50, delete, new Result.DeleteRange(4, 1, List.of(A2))), "wrong result");
    breaks(two().done(40, 50, delete, new Result.DeleteRange(3, 0, List.of())), "changed nothing");
  }

  @Test
  void earlierRevisionsDoNotChange() {
    holds(two().read(40, 50, 2, A, 3, false, 1, A2));
    breaks(two().read(40, 50, 2, A, 3, false, 1, A3), "wrong read");
  }

  @Test
  void endOfLeaseMayMakeRevisionWithoutCall() {
    Histories leased = new Histories();
    leased.done(0, 10, leasedPut(A, "x", 7), new Result.Put(2, null));
    leased.put(20, 30, B, "y", 4);
    holds(leased.read(40, 50, A, 4));
    breaks(leased.read(60, 70, A, 4, new KeyValue(A, 2, 2, 1, A2.value(), 7)), "wrong read");
    breaks(
        new Histories().put(0, 10, A, "x", 2).put(20, 30, B, "y", 4),
        "no call can have made revision 3");
  }

  @Test
  void staleRefusalOfFutureRevisionIsDetected() {
    holds(two().readRefused(40, 50, A, 4, Refusal.FUTURE_REVISION));
    breaks(two().readRefused(40, 50, A, 3, Refusal.FUTURE_REVISION), "stale refusal");
  }
}
