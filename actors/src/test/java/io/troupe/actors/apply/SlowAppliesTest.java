package io.troupe.actors.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.testing.LoggedLines;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlowAppliesTest {
  private static final Entry ENTRY = new Entry(1, 9, Entry.Kind.OPERATION, Bytes.EMPTY);
  private static final Operation COMPACT = new Operation.Compact(5);

  private final LoggedLines log = new LoggedLines(SlowApplies.class);
  private final SlowApplies slow = new SlowApplies(Duration.ofMillis(100));

  @AfterEach
  void stop() {
    log.close();
  }

  @Test
  void slowEntryIsLogged() {
    slow.applied(ENTRY, COMPACT, new Result.Done(1), Duration.ofMillis(100).toNanos());
    assertThat(log.texts()).isEmpty();
    slow.applied(ENTRY, COMPACT, new Result.Done(1), Duration.ofMillis(101).toNanos());
    assertThat(log.texts())
        .containsExactly(
            "WARN apply request took too long took=PT0.101S expected-duration=PT0.1S index=9"
                + " request=compact revision:5 refused=false");
  }
}
