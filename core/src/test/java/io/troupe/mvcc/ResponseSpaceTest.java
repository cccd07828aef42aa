package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.plain;
import static io.troupe.mvcc.Fixture.put;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.Applied;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.txn.ReadEvaluator;
import io.troupe.txn.ResponseSpace;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Records that an applied request gathers for its response: within a budget, for its own client
 * only.
 */
class ResponseSpaceTest {
  private static final int MEGABYTE = 1 << 20;
  private static final TxnOp RANGE = new Operation.Range(plain(KeyRange.all(), 0));
  private final Fixture fixture = new Fixture();

  @BeforeEach
  void fill() {
    Bytes value = Bytes.wrap(new byte[MEGABYTE / 20]);
    for (int i = 0; i < 20; i++) {
      fixture.apply(new Operation.Put(key("k" + (10 + i)), value, 0, false, false, false));
    }
  }

  private Applied apply(Operation operation, ResponseSpace space) {
    long next = fixture.machine.appliedIndex() + 1;
    Applied applied = fixture.machine.apply(next, 1, Requester.ANONYMOUS, operation, space);
    fixture.machine.commit();
    return applied;
  }

  private static Operation.Txn txn(TxnOp... ops) {
    return new Operation.Txn(List.of(), List.of(ops), List.of());
  }

  private String value(String name) {
    KeyValue found = fixture.machine.reader().get(key(name));
    return found == null ? "" : found.value().utf8();
  }

  @Test
  void memberWithoutClientReadsNothingForResponse_A2() {
    Applied applied = apply(txn(RANGE, put("k10", "new")), ResponseSpace.none());
    Result.Txn result = (Result.Txn) applied.result();
    assertThat(result.responses())
        .containsExactly(Result.NotGathered.INSTANCE, Result.NotGathered.INSTANCE);
    assertThat(value("k10")).isEqualTo("new");
    Applied deleted = apply(delete(KeyRange.all()), ResponseSpace.none());
    assertThat(deleted.result())
        .isEqualTo(new Result.DeleteRange(applied.revision() + 1, 20, List.of()));
  }

  @Test
  void writeWithTooLargeResponseIsApplied() {
    MemoryBudget small = new MemoryBudget(MEGABYTE);
    try (MemoryBudget.Share share = small.share()) {
      Applied applied = apply(txn(RANGE, put("k10", "new")), ResponseSpace.of(share));
      assertThat(applied.result()).isInstanceOf(Result.ResponseTooLarge.class);
      assertThat(value("k10")).isEqualTo("new");
    }
    try (MemoryBudget.Share share = small.share()) {
      Applied applied = apply(delete(KeyRange.all()), ResponseSpace.of(share));
      assertThat(applied.result()).isInstanceOf(Result.ResponseTooLarge.class);
      assertThat(applied.changes().events()).hasSize(20);
      assertThat(fixture.read(plain(KeyRange.all(), 0)).kvs()).isEmpty();
    }
    assertThat(small.taken()).isZero();
  }

  @Test
  void responseWithinMemoryIsComplete() {
    MemoryBudget large = new MemoryBudget(4 * MEGABYTE);
    try (MemoryBudget.Share share = large.share()) {
      Result.Txn result =
          (Result.Txn) apply(txn(RANGE, put("k10", "new")), ResponseSpace.of(share)).result();
      assertThat(((Result.Range) result.responses().get(0)).range().kvs()).hasSize(20);
      assertThat(large.taken()).isGreaterThan(2 * MEGABYTE - 100_000);
    }
  }

  @Test
  void nothingIsGatheredAfterClientDisconnects() {
    MemoryBudget.Share share = new MemoryBudget(MEGABYTE).share();
    share.close();
    Applied applied = apply(txn(RANGE, put("k10", "new")), ResponseSpace.of(share));
    assertThat(((Result.Txn) applied.result()).responses())
        .containsExactly(Result.NotGathered.INSTANCE, Result.NotGathered.INSTANCE);
  }

  @Test
  void effectsDoNotDependOnResponse() {
    Fixture other = new Fixture();
    fill(other);
    Operation.Txn txn = txn(RANGE, delete(KeyRange.all()), RANGE);
    MemoryBudget.Share small = new MemoryBudget(1000).share();
    Applied one = apply(txn, ResponseSpace.of(small));
    Applied two = other.apply(txn);
    assertThat(one.changes()).isEqualTo(two.changes());
    assertThat(fixture.machine.digest()).isEqualTo(other.machine.digest());
  }

  private static void fill(Fixture fixture) {
    Bytes value = Bytes.wrap(new byte[MEGABYTE / 20]);
    for (int i = 0; i < 20; i++) {
      fixture.apply(new Operation.Put(key("k" + (10 + i)), value, 0, false, false, false));
    }
  }

  /** 42 x 42 x 44 ranges fit into a request of 0.8 MB. */
  @Test
  void responsesOfNestedTransactionsCount() {
    RangeQuery none = plain(KeyRange.single(key("none")), 0);
    TxnOp inner = many(new Operation.Range(none), 44);
    TxnOp middle = many(inner, 42);
    Operation.Txn reads = (Operation.Txn) many(middle, 42);
    MemoryBudget small = new MemoryBudget(MEGABYTE);
    try (MemoryBudget.Share share = small.share()) {
      assertThat(new ReadEvaluator(fixture.machine.reader()).txn(reads, share))
          .isEqualTo(new Result.Refused(Refusal.ANSWER_TOO_LARGE));
    }
    try (MemoryBudget.Share share = small.share()) {
      Applied applied = apply(txn(reads, put("k10", "new")), ResponseSpace.of(share));
      assertThat(applied.result()).isInstanceOf(Result.ResponseTooLarge.class);
      assertThat(value("k10")).isEqualTo("new");
    }
  }

  private static TxnOp many(TxnOp op, int times) {
    return new Operation.Txn(List.of(), Collections.nCopies(times, op), List.of());
  }

  @Test
  void nestedTransactionOfRangesIsReadAtOneRevision_X11() {
    Operation.Txn reads = txn(RANGE, txn(RANGE));
    try (MemoryBudget.Share share = new MemoryBudget(10 * MEGABYTE).share()) {
      Result.Txn result =
          (Result.Txn) new ReadEvaluator(fixture.machine.reader()).txn(reads, share);
      Result.Txn inner = (Result.Txn) result.responses().get(1);
      assertThat(inner.revision()).isZero();
      assertThat(inner.responses()).containsExactly(result.responses().get(0));
    }
  }
}
