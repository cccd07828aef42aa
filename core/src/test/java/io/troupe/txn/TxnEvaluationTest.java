package io.troupe.txn;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static io.troupe.mvcc.Fixture.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.troupe.machine.Applied;
import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.Compare.Relation;
import io.troupe.model.Compare.Target;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.mvcc.Fixture;
import java.util.List;
import org.junit.jupiter.api.Test;

class TxnEvaluationTest {
  private final Fixture fixture = new Fixture();

  private static Compare compare(KeyRange range, Target target, Relation relation, long number) {
    return new Compare(range, target, relation, number, Bytes.EMPTY);
  }

  private static Compare value(KeyRange range, Relation relation, String value) {
    return new Compare(range, Target.VALUE, relation, 0, key(value));
  }

  private static TxnOp get(String key) {
    return new Operation.Range(RangeQuery.of(one(key), 0));
  }

  private static Operation.Txn txn(List<Compare> compares, TxnOp... success) {
    return new Operation.Txn(compares, List.of(success), List.of());
  }

  private boolean holds(Compare compare) {
    return ((Result.Txn) fixture.result(txn(List.of(compare)))).succeeded();
  }

  @Test
  void missingKeysCompareAsZero_X6() {
    for (Target target : List.of(Target.VERSION, Target.CREATE, Target.MOD, Target.LEASE)) {
      assertThat(holds(compare(one("x"), target, Relation.EQUAL, 0))).isTrue();
      assertThat(holds(compare(one("x"), target, Relation.LESS, 1))).isTrue();
      assertThat(holds(compare(one("x"), target, Relation.GREATER, 0))).isFalse();
    }
    for (Relation relation : Relation.values()) {
      assertThat(holds(value(one("x"), relation, "v"))).isFalse();
    }
  }

  @Test
  void unknownNumbersAreNotRefused_X6() {
    fixture.apply(put("a", "v"));
    assertThat(holds(compare(one("a"), Target.UNKNOWN, Relation.EQUAL, 99))).isTrue();
    assertThat(holds(compare(one("a"), Target.UNKNOWN, Relation.NOT_EQUAL, 99))).isFalse();
    assertThat(holds(compare(one("a"), Target.MOD, Relation.UNKNOWN, 99))).isTrue();
    assertThat(holds(compare(one("x"), Target.UNKNOWN, Relation.EQUAL, 99))).isTrue();
  }

  @Test
  void rangesHoldForEveryKey_X7() {
    assertThat(holds(compare(span("a", "z"), Target.VERSION, Relation.EQUAL, 0))).isTrue();
    assertThat(holds(value(span("a", "z"), Relation.NOT_EQUAL, "v"))).isFalse();
    fixture.apply(put("a", "v"));
    fixture.apply(put("b", "v"));
    assertThat(holds(value(span("a", "z"), Relation.EQUAL, "v"))).isTrue();
    assertThat(holds(compare(span("a", "z"), Target.MOD, Relation.LESS, 3))).isFalse();
    assertThat(holds(compare(span("a", "z"), Target.MOD, Relation.LESS, 4))).isTrue();
    assertThat(holds(compare(span("z", "a"), Target.MOD, Relation.EQUAL, 0))).isTrue();
  }

  @Test
  void innerHeadersHaveNewRevisionFromFirstChange_R6() {
    fixture.apply(put("a", "0"));
    Result.Txn result =
        (Result.Txn)
            fixture.result(
                txn(
                    List.of(),
                    get("a"),
                    delete(one("nothing")),
                    put("a", "1"),
                    get("a"),
                    txn(List.of(), get("a")),
                    delete(one("nothing"))));
    assertThat(result.revision()).isEqualTo(3);
    List<Result> inner = result.responses();
    KeyValue old = new KeyValue(key("a"), 2, 2, 1, key("0"), 0);
    KeyValue now = new KeyValue(key("a"), 2, 3, 2, key("1"), 0);
    Result seen = new Result.Range(new RangeResult(3, List.of(now), false, 1));
    assertThat(inner)
        .containsExactly(
            new Result.Range(new RangeResult(2, List.of(old), false, 1)),
            new Result.DeleteRange(2, 0, List.of()),
            new Result.Put(3, old),
            seen,
            new Result.Txn(0, true, List.of(seen)),
            new Result.DeleteRange(3, 0, List.of()));
  }

  @Test
  void nestedComparesReadStateBeforeTransaction_X8() {
    Operation.Txn nested =
        new Operation.Txn(
            List.of(compare(one("a"), Target.VERSION, Relation.EQUAL, 0)),
            List.of(put("b", "unseen")),
            List.of(put("b", "seen")));
    fixture.apply(txn(List.of(), put("a", "1"), nested));
    KeyValue b = fixture.machine.reader().get(key("b"));
    assertThat(b).isNotNull().extracting(KeyValue::value).isEqualTo(key("unseen"));
  }

  @Test
  void allWritesShareOneRevisionAndKeepTheirOrder_R2_X9() {
    Applied applied = fixture.apply(txn(List.of(), put("b", "1"), put("a", "1")));
    assertThat(applied.revision()).isEqualTo(2);
    assertThat(applied.events())
        .extracting(event -> event.kv().key().utf8(), event -> event.kv().modRevision())
        .containsExactly(tuple("b", 2L), tuple("a", 2L));
    assertThat(fixture.apply(txn(List.of(), get("a"), delete(one("x")))).revision()).isEqualTo(2);
  }

  @Test
  void previousRecordIsThatOfPreviousRevision_W11() {
    fixture.apply(put("a", "old"));
    KeyValue old = fixture.machine.reader().get(key("a"));
    Applied applied =
        fixture.apply(
            txn(List.of(), txn(List.of(), put("a", "new")), txn(List.of(), delete(one("a")))));
    assertThat(applied.events()).extracting(Event::prev).containsExactly(old, old);
    Applied created =
        fixture.apply(
            txn(List.of(), txn(List.of(), put("c", "new")), txn(List.of(), delete(one("c")))));
    assertThat(created.events()).extracting(Event::prev).containsExactly(null, null);
    assertThat(created.revision()).isEqualTo(4);
  }

  @Test
  void failedCheckAbortsAll_X10() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("a", "2"));
    fixture.apply(new Operation.Compact(3));
    TxnOp ignoring = new Operation.Put(key("x"), Bytes.EMPTY, 0, false, true, false);
    TxnOp future = new Operation.Range(RangeQuery.of(one("a"), 4));
    TxnOp compacted = new Operation.Range(RangeQuery.of(one("a"), 2));
    TxnOp negative = new Operation.Range(RangeQuery.of(one("a"), -1));
    assertRefused(put("b", "1", 77), Refusal.LEASE_NOT_FOUND);
    assertRefused(ignoring, Refusal.KEY_NOT_FOUND);
    assertRefused(future, Refusal.FUTURE_REVISION);
    assertRefused(compacted, Refusal.COMPACTED);
    assertRefused(negative, Refusal.COMPACTED);
    assertRefused(txn(List.of(), put("b", "1", 77)), Refusal.LEASE_NOT_FOUND);
    // The branch that does not run is not checked.
    Operation.Txn failing =
        new Operation.Txn(
            List.of(compare(one("a"), Target.MOD, Relation.EQUAL, 0)),
            List.of(put("b", "1", 77)),
            List.of());
    assertThat(fixture.result(failing)).isEqualTo(new Result.Txn(3, false, List.of()));
  }

  @Test
  void leaseOfPutIsCheckedBeforeItsKey_X10() {
    TxnOp both = new Operation.Put(key("x"), Bytes.EMPTY, 77, false, true, false);
    assertThat(fixture.result(txn(List.of(), both)))
        .isEqualTo(new Result.Refused(Refusal.LEASE_NOT_FOUND));
    assertThat(fixture.result((Operation) both))
        .isEqualTo(new Result.Refused(Refusal.LEASE_NOT_FOUND));
  }

  @Test
  void firstFailingOperationDecidesTheError_X10() {
    TxnOp future = new Operation.Range(RangeQuery.of(one("a"), 9));
    TxnOp unleased = put("b", "1", 77);
    assertThat(fixture.result(txn(List.of(), future, unleased)))
        .isEqualTo(new Result.Refused(Refusal.FUTURE_REVISION));
    assertThat(fixture.result(txn(List.of(), unleased, future)))
        .isEqualTo(new Result.Refused(Refusal.LEASE_NOT_FOUND));
    assertThat(fixture.result(txn(List.of(), txn(List.of(), future), unleased)))
        .isEqualTo(new Result.Refused(Refusal.FUTURE_REVISION));
    assertThat(fixture.result(txn(List.of(), get("a"), txn(List.of(), unleased), future)))
        .isEqualTo(new Result.Refused(Refusal.LEASE_NOT_FOUND));
  }

  @Test
  void invalidOperationIsRejectedAndNothingIsWritten() {
    TxnOp invalid = new Operation.Invalid(Refusal.INVALID_SORT_OPTION);
    assertThat(fixture.result(txn(List.of(), put("a", "1"), invalid)))
        .isEqualTo(new Result.Refused(Refusal.INVALID_SORT_OPTION));
    assertThat(fixture.machine.reader().get(key("a"))).isNull();
  }

  private void assertRefused(TxnOp op, Refusal refusal) {
    Applied applied = fixture.apply(txn(List.of(), put("z", "1"), op));
    assertThat(applied.result()).isEqualTo(new Result.Refused(refusal));
    assertThat(applied.revision()).isEqualTo(3);
    assertThat(applied.events()).isEmpty();
    assertThat(fixture.machine.reader().get(key("z"))).isNull();
  }

  @Test
  void ignoredValueAndLeaseAreKept_P3_P4() {
    fixture.apply(new Operation.LeaseGrant(5, 10));
    fixture.apply(put("a", "1", 5));
    fixture.apply(new Operation.Put(key("a"), key("2"), 0, false, false, true));
    assertThat(fixture.machine.reader().get(key("a")))
        .isEqualTo(new KeyValue(key("a"), 2, 3, 2, key("2"), 5));
    fixture.apply(new Operation.Put(key("a"), Bytes.EMPTY, 0, false, true, false));
    assertThat(fixture.machine.reader().get(key("a")))
        .isEqualTo(new KeyValue(key("a"), 2, 4, 3, key("2"), 0));
    assertThat(fixture.machine.reader().attachedKeys(5)).isEmpty();
    assertThat(fixture.result(new Operation.Put(key("x"), Bytes.EMPTY, 0, true, true, true)))
        .isEqualTo(new Result.Refused(Refusal.KEY_NOT_FOUND));
    assertThat(fixture.result(put("x", "1", 6)))
        .isEqualTo(new Result.Refused(Refusal.LEASE_NOT_FOUND));
  }

  @Test
  void identicalValueStillMakesARevision_P6() {
    fixture.apply(put("a", "1"));
    Applied again = fixture.apply(put("a", "1"));
    assertThat(again.revision()).isEqualTo(3);
    assertThat(again.events()).hasSize(1);
  }

  @Test
  void deletionReturnsKeyOrderAndEmptyDeletionKeepsRevision_D1_R3() {
    fixture.apply(put("b", "1"));
    fixture.apply(put("a", "1"));
    Result.DeleteRange deleted = (Result.DeleteRange) fixture.result(delete(span("a", "z")));
    assertThat(deleted.deleted()).isEqualTo(2);
    assertThat(deleted.prevs()).extracting(kv -> kv.key().utf8()).containsExactly("a", "b");
    assertThat(fixture.apply(delete(span("a", "z"))).result())
        .isEqualTo(new Result.DeleteRange(4, 0, List.of()));
    Result.DeleteRange open =
        (Result.DeleteRange) fixture.result(delete(new KeyRange(key("z"), key("a"))));
    assertThat(open.deleted()).isZero();
  }

  @Test
  void readOnlyTransactionIsServedByReader_X11() {
    fixture.apply(put("a", "1"));
    ReadEvaluator reads = new ReadEvaluator(fixture.machine.reader());
    MemoryBudget.Share share = MemoryBudget.UNLIMITED.share();
    Operation.Txn txn =
        new Operation.Txn(
            List.of(value(one("a"), Relation.EQUAL, "1")), List.of(get("a")), List.of(get("b")));
    Result.Txn result = (Result.Txn) reads.txn(txn, share);
    assertThat(result).isEqualTo(fixture.result(txn));
    assertThat(result.revision()).isEqualTo(2);
    assertThat(reads.txn(txn(List.of(), new Operation.Range(RangeQuery.of(one("a"), 3))), share))
        .isEqualTo(new Result.Refused(Refusal.FUTURE_REVISION));
    assertThatThrownBy(() -> reads.txn(txn(List.of(), put("a", "1")), share))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
