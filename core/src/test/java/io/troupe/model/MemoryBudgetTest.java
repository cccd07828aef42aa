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

  /** A connection that does not send what it has gets no more once the budget is used up. */
  @Test
  void unsentResponsesOfStreamHoldBackItsConnection() {
    MemoryBudget.Share stream = modest.share();
    MemoryBudget.Share sameConnection = modest.share();
    stream.track();
    stream.shrinkTo(10);
    stream.hand(2 * FREE);
    assertThat(stream.isHeldBack()).as("the budget is not used up").isFalse();
    greedy.share().shrinkTo(MAX);
    assertThat(stream.isHeldBack()).isTrue();
    assertThat(sameConnection.isHeldBack()).isTrue();
    assertThat(greedy.share().isHeldBack()).as("nothing of it is unsent").isFalse();
    stream.encoded(2 * FREE);
    stream.hand(0);
    stream.sent(FREE);
    assertThat(modest.held()).isEqualTo(FREE + 10);
    assertThat(stream.isHeldBack()).isFalse();
    stream.sent(100 * FREE);
    assertThat(modest.held()).isEqualTo(10);
    stream.encoded(FREE);
    stream.close();
    assertThat(modest.held()).isZero();
    assertThat(sameConnection.isHeldBack()).isFalse();
  }

  @Test
  void reservationFitsOrCountsNothing() {
    MemoryBudget.Share read = greedy.share();
    assertThat(read.reserve(MAX)).as("counts as a quarter").isEqualTo(MAX / 4);
    read.shrinkTo(10);
    assertThat(greedy.held()).isEqualTo(MAX / 4 + 10);
    MemoryBudget.Share other = modest.share();
    assertThat(other.reserve(FREE)).isEqualTo(FREE);
    other.release(FREE);
    greedy.share().shrinkTo(MAX);
    assertThat(read.reserve(FREE)).isZero();
    assertThat(other.reserve(FREE + 1)).isZero();
    assertThat(budget.refused()).isEqualTo(2);
    assertThat(modest.held()).isZero();
    assertThat(other.reserve(FREE)).as("a holder that holds little").isEqualTo(FREE);
    read.release(MAX / 4);
    assertThat(greedy.held()).isEqualTo(MAX + 10);
    other.close();
    assertThat(modest.held()).isZero();
    assertThat(other.reserve(1)).isZero();
  }

  @Test
  void siblingCountsAfterCallEnded() {
    MemoryBudget.Share call = modest.share();
    MemoryBudget.Share stream = call.sibling();
    stream.shrinkTo(10);
    call.close();
    assertThat(modest.held()).isEqualTo(10);
    stream.close();
    assertThat(modest.held()).isZero();
  }

  /** Over HTTP/1.1 the bytes that are sent cannot be seen. */
  @Test
  void encodedResponsesOfUntrackedShareDoNotCount() {
    MemoryBudget.Share share = modest.share();
    share.encoded(FREE);
    assertThat(modest.held()).isZero();
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
