package io.troupe.simulation.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.KeyRange;
import io.troupe.watch.EventFilter;
import org.junit.jupiter.api.Test;

class WatchRecordTest {
  private final WatchRecord record =
      new WatchRecord(
          new WatchRecord.Asked(KeyRange.all(), 3, EventFilter.NONE, false, false, false));

  @Test
  void nextRevisionFollowsBookmark() {
    assertThat(record.nextRevision()).isEqualTo(3);
    record.add(new WatchReply.Created(1, 20));
    assertThat(record.nextRevision()).isEqualTo(3);
    record.add(new WatchReply.Progress(1, 20));
    assertThat(record.nextRevision()).isEqualTo(21);
  }

  @Test
  void nextRevisionAfterCancellationIsCompactedRevision() {
    record.add(new WatchReply.Created(1, 20));
    record.add(new WatchReply.Canceled(1, 10));
    assertThat(record.isCanceled()).isTrue();
    assertThat(record.nextRevision()).isEqualTo(10);
  }
}
