package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.plain;
import static io.troupe.mvcc.Fixture.query;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeQuery.SortOrder;
import io.troupe.model.RangeQuery.SortTarget;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.txn.ReadEvaluator;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A megabyte in twenty keys, read with less memory than twice that, and with more. */
class ResponseMemoryTest {
  private static final int MEGABYTE = 1 << 20;
  private final Fixture fixture = new Fixture();

  @BeforeEach
  void fill() {
    Bytes value = Bytes.wrap(new byte[MEGABYTE / 20]);
    for (int i = 0; i < 20; i++) {
      fixture.apply(new Operation.Put(key("k" + (10 + i)), value, 0, false, false, false));
    }
  }

  private Result range(RangeQuery query, MemoryBudget budget) {
    try (MemoryBudget.Share share = budget.share()) {
      return fixture.machine.reader().range(query, share);
    }
  }

  @ParameterizedTest
  @CsvSource({"NONE,KEY,0", "DESCEND,KEY,20", "ASCEND,MOD,0", "DESCEND,CREATE,19"})
  void responseAboveBudgetIsRefused(SortOrder order, SortTarget target, long limit) {
    RangeQuery all = query(KeyRange.all(), limit, order, target, false);
    MemoryBudget small = new MemoryBudget(MEGABYTE);
    assertThat(range(all, small)).isEqualTo(new Result.Refused(Refusal.ANSWER_TOO_LARGE));
    assertThat(small.taken()).isZero();
    MemoryBudget large = new MemoryBudget(3 * MEGABYTE);
    assertThat(range(all, large)).isEqualTo(fixture.machine.reader().range(all));
  }

  @Test
  void responseHoldsMemoryUntilRelease() {
    MemoryBudget budget = new MemoryBudget(3 * MEGABYTE);
    MemoryBudget.Share share = budget.share();
    fixture.machine.reader().range(plain(KeyRange.all(), 0), share);
    assertThat(budget.taken()).isBetween(2L * MEGABYTE - 100_000, 2L * MEGABYTE + 10_000);
    share.shrinkTo(MEGABYTE);
    assertThat(budget.taken()).isEqualTo(MEGABYTE);
    share.close();
    share.close();
    share.shrinkTo(MEGABYTE);
    assertThat(budget.taken()).isZero();
  }

  @Test
  void smallResponseFits() {
    MemoryBudget small = new MemoryBudget(MEGABYTE);
    assertThat(range(plain(KeyRange.all(), 5), small)).isInstanceOf(Result.Range.class);
    RangeQuery bare = query(KeyRange.all(), 0, SortOrder.NONE, SortTarget.KEY, true);
    assertThat(range(bare, small)).isInstanceOf(Result.Range.class);
  }

  @Test
  void requestMayRetryWhenOtherRequestsUseUpBudget() {
    MemoryBudget budget = new MemoryBudget(3 * MEGABYTE);
    try (MemoryBudget.Share other = budget.share()) {
      other.add(2 * MEGABYTE);
      assertThat(range(plain(KeyRange.all(), 0), budget))
          .isEqualTo(new Result.Refused(Refusal.TOO_MANY_REQUESTS));
    }
    assertThat(range(plain(KeyRange.all(), 0), budget)).isInstanceOf(Result.Range.class);
  }

  @Test
  void rangesOfTransactionShareBudget() {
    MemoryBudget budget = new MemoryBudget(3 * MEGABYTE);
    ReadEvaluator reads = new ReadEvaluator(fixture.machine.reader());
    Operation.TxnOp range = new Operation.Range(plain(KeyRange.all(), 0));
    try (MemoryBudget.Share share = budget.share()) {
      assertThat(reads.txn(new Operation.Txn(List.of(), List.of(range), List.of()), share))
          .isInstanceOf(Result.Txn.class);
    }
    try (MemoryBudget.Share share = budget.share()) {
      assertThat(reads.txn(new Operation.Txn(List.of(), List.of(range, range), List.of()), share))
          .isEqualTo(new Result.Refused(Refusal.ANSWER_TOO_LARGE));
    }
  }
}
