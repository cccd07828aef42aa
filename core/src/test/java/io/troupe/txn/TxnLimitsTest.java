package io.troupe.txn;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static io.troupe.mvcc.Fixture.span;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TxnLimitsTest {
  private static final Compare ON_A =
      new Compare(one("a"), Compare.Target.MOD, Compare.Relation.EQUAL, 0, Bytes.EMPTY);

  private static Operation.Txn txn(List<TxnOp> success, List<TxnOp> failure) {
    return new Operation.Txn(List.of(), success, failure);
  }

  private static Operation.Txn then(TxnOp... ops) {
    return txn(List.of(ops), List.of());
  }

  private static Operation.Txn otherwise(TxnOp... ops) {
    return txn(List.of(), List.of(ops));
  }

  private static @Nullable Refusal check(Operation.Txn txn) {
    return TxnLimits.check(txn, 128);
  }

  private static void refused(TxnOp... ops) {
    assertThat(check(then(ops))).isEqualTo(Refusal.DUPLICATE_KEY);
    assertThat(check(otherwise(ops))).isEqualTo(Refusal.DUPLICATE_KEY);
  }

  private static void allowed(TxnOp... ops) {
    assertThat(check(then(ops))).isNull();
  }

  @Test
  void sizeIsTheGreatestOfThreeLists_X2() {
    TxnOp get = new Operation.Range(RangeQuery.of(one("a"), 0));
    assertThat(check(txn(Collections.nCopies(128, get), List.of()))).isNull();
    assertThat(check(txn(List.of(), Collections.nCopies(129, get))))
        .isEqualTo(Refusal.TOO_MANY_OPERATIONS);
    assertThat(check(new Operation.Txn(Collections.nCopies(129, ON_A), List.of(), List.of())))
        .isEqualTo(Refusal.TOO_MANY_OPERATIONS);
  }

  @Test
  void nestedTransactionsGetRemainingLimitOfParent_X2() {
    TxnOp get = new Operation.Range(RangeQuery.of(one("a"), 0));
    Operation.Txn inner = then(get, get, get);
    assertThat(TxnLimits.check(then(inner), 4)).isNull();
    assertThat(TxnLimits.check(then(inner), 3)).isEqualTo(Refusal.TOO_MANY_OPERATIONS);
    // The limit applies to each nested transaction; it is not shared among them.
    assertThat(TxnLimits.check(then(inner, inner), 5)).isNull();
  }

  @Test
  void everyOperationIsCheckedInBothBranches_X3() {
    TxnOp valued = new Operation.Put(key("a"), key("v"), 0, false, true, false);
    TxnOp leased = new Operation.Put(key("a"), key("v"), 1, false, false, true);
    KeyRange none = KeyRange.single(Bytes.EMPTY);
    assertThat(check(then(put("", "v")))).isEqualTo(Refusal.KEY_NOT_PROVIDED);
    assertThat(check(otherwise(delete(none)))).isEqualTo(Refusal.KEY_NOT_PROVIDED);
    assertThat(check(otherwise(new Operation.Range(RangeQuery.of(none, 0)))))
        .isEqualTo(Refusal.KEY_NOT_PROVIDED);
    assertThat(check(then(valued))).isEqualTo(Refusal.VALUE_PROVIDED);
    assertThat(check(then(then(leased)))).isEqualTo(Refusal.LEASE_PROVIDED);
    Compare keyless = new Compare(none, Compare.Target.MOD, Compare.Relation.EQUAL, 0, Bytes.EMPTY);
    assertThat(check(new Operation.Txn(List.of(keyless), List.of(), List.of())))
        .isEqualTo(Refusal.KEY_NOT_PROVIDED);
  }

  @Test
  void checksFollowRequestOrder_X3() {
    TxnOp unsorted = new Operation.Invalid(Refusal.INVALID_SORT_OPTION);
    TxnOp keyless = put("", "v");
    assertThat(check(then(keyless, unsorted))).isEqualTo(Refusal.KEY_NOT_PROVIDED);
    assertThat(check(then(unsorted, keyless))).isEqualTo(Refusal.INVALID_SORT_OPTION);
    assertThat(check(txn(List.of(keyless), List.of(unsorted)))).isEqualTo(Refusal.KEY_NOT_PROVIDED);
    assertThat(check(then(then(keyless), unsorted))).isEqualTo(Refusal.KEY_NOT_PROVIDED);
    assertThat(check(then(Collections.nCopies(129, unsorted).toArray(TxnOp[]::new))))
        .isEqualTo(Refusal.TOO_MANY_OPERATIONS);
    // The check for keys written twice is the last one.
    assertThat(check(then(put("a", "1"), put("a", "1"), unsorted)))
        .isEqualTo(Refusal.INVALID_SORT_OPTION);
  }

  @Test
  void keyIsWrittenOnce_X4() {
    refused(put("a", "1"), put("a", "1"));
    refused(put("b", "1"), delete(span("a", "c")));
    refused(delete(span("a", "c")), put("b", "1"));
    refused(then(put("a", "1")), put("a", "1"));
    refused(put("a", "1"), otherwise(put("a", "1")));
    refused(then(delete(one("a"))), put("a", "1"));
    refused(put("a", "1"), then(delete(one("a"))));
    refused(then(put("a", "1")), delete(one("a")));
    refused(delete(one("a")), otherwise(then(put("a", "1"))));
    refused(then(put("a", "1")), then(put("a", "1")));
    refused(then(put("a", "1")), otherwise(put("a", "1")));
  }

  @Test
  void allowedOverlaps_X4() {
    allowed(delete(span("a", "c")), delete(span("b", "d")));
    allowed(new Operation.Range(RangeQuery.of(span("a", "c"), 0)), put("b", "1"));
    allowed(put("c", "1"), delete(span("a", "c")));
    assertThat(check(txn(List.of(put("a", "1")), List.of(put("a", "2"))))).isNull();
    allowed(txn(List.of(put("a", "1")), List.of(put("a", "2"))));
    allowed(txn(List.of(delete(one("a"))), List.of(put("a", "2"))));
    allowed(txn(List.of(put("a", "2")), List.of(delete(one("a")))));
  }

  @Test
  void orderCountsBetweenSiblings_X4quirk() {
    refused(then(delete(one("a"))), then(put("a", "1")));
    allowed(then(put("a", "1")), then(delete(one("a"))));
  }

  @Test
  void openEndIsTakenLiterally_X5quirk() {
    allowed(delete(new KeyRange(key("a"), Bytes.of(0))), put("b", "1"));
    refused(delete(new KeyRange(key("a"), key("c"))), put("b", "1"));
  }

  @Test
  void overlappingSpansAreMerged() {
    refused(delete(span("a", "c")), delete(span("e", "g")), delete(span("b", "f")), put("d", "1"));
    allowed(delete(span("a", "c")), delete(span("e", "g")), put("d", "1"));
    refused(delete(span("e", "g")), delete(span("a", "c")), put("b", "1"));
    refused(delete(span("a", "z")), delete(span("b", "c")), put("d", "1"));
  }

  @Test
  void readOnlyRequiresRangesOnlyAtTopLevel_X11() {
    TxnOp get = new Operation.Range(RangeQuery.of(one("a"), 0));
    assertThat(TxnLimits.isReadOnly(txn(List.of(get), List.of(get)))).isTrue();
    assertThat(TxnLimits.isReadOnly(then())).isTrue();
    assertThat(TxnLimits.isReadOnly(txn(List.of(get), List.of(put("a", "1"))))).isFalse();
    assertThat(TxnLimits.isReadOnly(then(then(get)))).isTrue();
    assertThat(TxnLimits.isReadOnly(then(then(get, put("a", "1"))))).isFalse();
  }

  @Test
  void costIsThatOfMoreExpensiveBranch_Q1() {
    assertThat(QuotaCost.of(put("key", "value"))).isEqualTo(264);
    assertThat(QuotaCost.of(new Operation.LeaseGrant(1, 1))).isEqualTo(64);
    assertThat(QuotaCost.of(delete(one("a")))).isZero();
    assertThat(QuotaCost.of(new Operation.Compact(1))).isZero();
    TxnOp nested = txn(List.of(put("a", "")), List.of(put("b", ""), put("c", "")));
    assertThat(QuotaCost.of(txn(List.of(put("d", "1"), nested), List.of(put("e", "")))))
        .isEqualTo(258 + 2 * 257);
    assertThat(QuotaCost.of(then(delete(one("a"))))).isZero();
  }

  @Test
  void checksSingleRequests_P1_D1_G1() {
    assertThat(RequestChecks.put(put("a", "1"))).isNull();
    assertThat(RequestChecks.put(put("", "1"))).isEqualTo(Refusal.KEY_NOT_PROVIDED);
    assertThat(RequestChecks.deleteRange(delete(one("")))).isEqualTo(Refusal.KEY_NOT_PROVIDED);
    assertThat(RequestChecks.range(RangeQuery.of(one("a"), 0))).isNull();
    assertThat(RequestChecks.txn(then(put("a", "1")), 0)).isEqualTo(Refusal.TOO_MANY_OPERATIONS);
  }
}
