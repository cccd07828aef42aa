package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class BoundedExecutorTest {
  private final Queue<Runnable> threads = new ArrayDeque<>();
  private final BoundedExecutor bounded = new BoundedExecutor(threads::add, 2);
  private final List<String> ran = new ArrayList<>();

  private void assertRefused() {
    assertThatThrownBy(() -> bounded.execute(() -> ran.add("refused")))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.reason()).isEqualTo(Refusal.TOO_MANY_REQUESTS));
  }

  @Test
  void workIsRefusedWhileAllPlacesAreTaken() {
    bounded.execute(() -> ran.add("first"));
    bounded.execute(
        () -> {
          throw new IllegalStateException("second");
        });
    assertRefused();
    Objects.requireNonNull(threads.poll()).run();
    bounded.execute(() -> ran.add("third"));
    assertRefused();
    assertThatThrownBy(Objects.requireNonNull(threads.poll())::run).hasMessage("second");
    bounded.execute(() -> ran.add("fourth"));
    threads.forEach(Runnable::run);
    assertThat(ran).containsExactly("first", "third", "fourth");
  }

  @Test
  void rejectedWorkTakesNoPlace() {
    BoundedExecutor ended =
        new BoundedExecutor(
            work -> {
              throw new RejectedExecutionException("ended");
            },
            1);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> ended.execute(() -> {}))
          .isInstanceOf(RejectedExecutionException.class);
    }
  }
}
