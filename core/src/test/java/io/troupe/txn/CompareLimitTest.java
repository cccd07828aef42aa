package io.troupe.txn;

import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static io.troupe.mvcc.Fixture.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.Compare.Relation;
import io.troupe.model.Compare.Target;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.mvcc.Fixture;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Compares over ranges: how far they walk, and what stops them. */
class CompareLimitTest {
  private static final int KEYS = 3000;
  private static final KeyRange ALL = span("k", "l");

  private final Fixture fixture = new Fixture();
  private final ReadEvaluator reads = new ReadEvaluator(fixture.machine.reader());

  @BeforeEach
  void fill() {
    for (int i = 0; i < KEYS; i++) {
      fixture.apply(put(String.format("k%05d", i), "v"));
    }
  }

  private static Compare versions(Relation relation) {
    return new Compare(ALL, Target.VERSION, relation, 1, Bytes.EMPTY);
  }

  private static Operation.Txn txn(List<Compare> compares, TxnOp... success) {
    return new Operation.Txn(compares, List.of(success), List.of());
  }

  private @Nullable Refusal refusal(Operation.Txn txn, long most) {
    return reads.refusal(txn, new CompareLimit(most), MemoryBudget.UNLIMITED.share());
  }

  @Test
  void walkStopsAtFirstFailingKey() {
    Operation.Txn fails = txn(List.of(versions(Relation.GREATER)), put("x", "y"));
    assertThat(refusal(fails, 1)).isNull();
  }

  @Test
  void keysOfAllComparesAreAddedUp() {
    Compare holds = versions(Relation.EQUAL);
    assertThat(refusal(txn(List.of(holds), put("x", "y")), KEYS)).isNull();
    assertThat(refusal(txn(List.of(holds), put("x", "y")), KEYS - 1))
        .isEqualTo(Refusal.TOO_MANY_COMPARED);
    Operation.Txn nested = txn(List.of(holds), txn(List.of(holds), put("x", "y")));
    assertThat(refusal(nested, 2 * KEYS)).isNull();
    assertThat(refusal(nested, 2 * KEYS - 1)).isEqualTo(Refusal.TOO_MANY_COMPARED);
  }

  @Test
  void comparedValuesCountByTheirLength() {
    fixture.apply(put("m", "v".repeat(100 * 1024)));
    Compare values =
        new Compare(
            span("m", "n"), Target.VALUE, Relation.EQUAL, 0, Bytes.utf8("v".repeat(100 * 1024)));
    assertThat(refusal(txn(List.of(values), put("x", "y")), 100))
        .isEqualTo(Refusal.TOO_MANY_COMPARED);
    assertThat(refusal(txn(List.of(values), put("x", "y")), 101)).isNull();
  }

  @Test
  void rangesAreFoundAtAnyDepth() {
    Compare point = new Compare(one("k"), Target.VERSION, Relation.EQUAL, 1, Bytes.EMPTY);
    assertThat(CompareLimit.hasRanges(txn(List.of(point), put("x", "y")))).isFalse();
    Operation.Txn inner = txn(List.of(versions(Relation.EQUAL)), put("x", "y"));
    assertThat(CompareLimit.hasRanges(inner)).isTrue();
    assertThat(CompareLimit.hasRanges(new Operation.Txn(List.of(), List.of(), List.of(inner))))
        .isTrue();
  }

  /** Neither a compare nor a count gathers records, which would detect a closed share. */
  @Test
  void walksStopWhenClientDisconnects() {
    MemoryBudget.Share left = new MemoryBudget(Long.MAX_VALUE).share();
    left.close();
    Operation.Txn onlyReads =
        txn(
            List.of(versions(Relation.EQUAL)),
            new Operation.Range(RangeQuery.of(KeyRange.single(Bytes.utf8("k")), 0)));
    assertThat(reads.txn(onlyReads, left)).isEqualTo(new Result.Refused(Refusal.TOO_MANY_REQUESTS));
    assertThat(reads.refusal(onlyReads, CompareLimit.DEFAULT, left))
        .isEqualTo(Refusal.TOO_MANY_REQUESTS);
    RangeQuery count =
        new RangeQuery(
            ALL,
            0,
            0,
            RangeQuery.SortOrder.NONE,
            RangeQuery.SortTarget.KEY,
            false,
            true,
            0,
            0,
            0,
            0);
    assertThat(fixture.machine.reader().range(count, left))
        .isEqualTo(new Result.Refused(Refusal.TOO_MANY_REQUESTS));
    assertThatThrownBy(left::requireOpen).isInstanceOf(MemoryBudget.Exceeded.class);
  }
}
