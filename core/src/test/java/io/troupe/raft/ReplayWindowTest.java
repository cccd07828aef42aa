package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReplayWindowTest {
  @Test
  void eachNumberIsAcceptedOnceInAnyOrder() {
    ReplayWindow window = new ReplayWindow();
    assertThat(window.take(3)).isTrue();
    assertThat(window.take(1)).as("overtaken").isTrue();
    assertThat(window.take(3)).as("repeated").isFalse();
    assertThat(window.take(1)).as("overtaken and repeated").isFalse();
    assertThat(window.take(2)).isTrue();
  }

  @Test
  void numbersBelowWindowAreRejected() {
    ReplayWindow window = new ReplayWindow();
    assertThat(window.take(5000)).isTrue();
    assertThat(window.take(5000 - ReplayWindow.WIDTH)).isFalse();
    assertThat(window.take(5001 - ReplayWindow.WIDTH)).isTrue();
    assertThat(window.take(0)).isFalse();
    assertThat(window.take(-1)).isFalse();
  }

  /** Compared with a set of all numbers, with jumps of all lengths. */
  @Test
  void agreesWithSet() {
    for (long seed = 1; seed <= 50; seed++) {
      Random random = new Random(seed);
      ReplayWindow window = new ReplayWindow();
      Set<Long> taken = new HashSet<>();
      long newest = 0;
      for (int i = 0; i < 3000; i++) {
        long span = random.nextInt(50) == 0 ? 5000 : random.nextInt(20) == 0 ? 200 : 3;
        long back = random.nextInt(10) == 0 ? 2 * ReplayWindow.WIDTH : 8;
        long sequence = newest + 1 + random.nextLong(span) - random.nextLong(back);
        boolean expected =
            sequence > 0 && sequence > newest - ReplayWindow.WIDTH && taken.add(sequence);
        assertThat(window.take(sequence)).as("seed %d, %d", seed, sequence).isEqualTo(expected);
        newest = Math.max(newest, sequence);
      }
    }
  }
}
