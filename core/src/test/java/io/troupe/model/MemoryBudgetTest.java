package io.troupe.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
  private static final long MAX = 1 << 20;
  private static final long FREE = 1 << 10;

  private final MemoryBudget budget = new MemoryBudget(MAX, FREE);
  private final MemoryBudget.Holder greedy = budget.holder();
  private final MemoryBudget.Holder modest = budget.holder();

  private static void refuses(Runnable take, Refusal reason) {
    assertThatThrownBy(take::run)
        .isInstanceOfSatisfying(
            MemoryBudget.Exceeded.class,
            exceeded -> assertThat(exceeded.reason()).isEqualTo(reason));
  }

  @Test
  void newestRequestIsRefusedWhenBudgetIsUsedUp() {
    greedy.share().take(MAX);
    MemoryBudget.Share late = modest.share();
    refuses(() -> late.take(FREE + 1), Refusal.TOO_MANY_REQUESTS);
    assertThat(budget.refused()).isOne();
    late.close();
    assertThat(budget.taken()).isEqualTo(MAX);
  }

  @Test
  void holderBelowFreeLimitIsNeverRefused() {
    greedy.share().take(MAX);
    modest.share().take(FREE);
    assertThat(modest.held()).isEqualTo(FREE);
    assertThat(greedy.isExceeded()).isTrue();
    assertThat(modest.isExceeded()).isFalse();
  }

  @Test
  void shareAboveBudgetIsRefusedAsTooLarge() {
    MemoryBudget.Share share = greedy.share();
    refuses(() -> share.take(MAX + 1), Refusal.ANSWER_TOO_LARGE);
  }

  @Test
  void sharesOfOneHolderCountTogether() {
    for (int i = 0; i < 1024; i++) {
      greedy.share().take(MAX / 1024);
    }
    refuses(() -> greedy.share().take(1), Refusal.TOO_MANY_REQUESTS);
    assertThat(greedy.held()).isEqualTo(MAX + 1);
  }

  @Test
  void closedShareTakesNothing() {
    MemoryBudget.Share share = greedy.share();
    share.take(100);
    share.close();
    share.close();
    share.shrinkTo(50);
    refuses(() -> share.take(1), Refusal.TOO_MANY_REQUESTS);
    refuses(() -> share.add(1 << 16), Refusal.TOO_MANY_REQUESTS);
    assertThat(budget.taken()).isZero();
    assertThat(greedy.held()).isZero();
  }
}
