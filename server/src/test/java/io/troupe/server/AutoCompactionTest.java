package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Section 2.16 in virtual time: the revision of minute n is n. */
class AutoCompactionTest {
  private static final long MINUTE = 60_000;

  /** Minute and revision of each compaction within {@code minutes}. */
  private static List<String> run(AutoCompaction rule, int minutes, boolean leads) {
    List<String> compacted = new ArrayList<>();
    long interval = rule.interval().toMillis();
    for (long now = 0; now <= minutes * MINUTE; now += interval) {
      OptionalLong due = rule.due(now, now / MINUTE, leads);
      if (due.isPresent()) {
        rule.compacted(now, due.getAsLong());
        compacted.add(now / MINUTE + ":" + due.getAsLong());
      }
    }
    return compacted;
  }

  @Test
  void oneHourRetentionSamplesEverySixMinutesAndCompactsHourly_AC1() {
    AutoCompaction rule = new AutoCompaction.Periodic(Duration.ofHours(1), 0);
    assertThat(rule.interval()).isEqualTo(Duration.ofMinutes(6));
    assertThat(run(rule, 200, true)).containsExactly("60:0", "120:60", "180:120");
  }

  @Test
  void longRetentionCompactsHourly_AC1() {
    AutoCompaction rule = new AutoCompaction.Periodic(Duration.ofHours(5), 0);
    assertThat(rule.interval()).isEqualTo(Duration.ofMinutes(6));
    assertThat(run(rule, 430, true)).containsExactly("300:0", "360:60", "420:120");
  }

  @Test
  void shortRetentionCompactsOncePerRetention_AC1() {
    AutoCompaction rule = new AutoCompaction.Periodic(Duration.ofMinutes(10), 0);
    assertThat(rule.interval()).isEqualTo(Duration.ofMinutes(1));
    assertThat(run(rule, 35, true)).containsExactly("10:0", "20:10", "30:20");
  }

  @Test
  void failedCompactionIsRetriedWithNextSample_AC1() {
    AutoCompaction rule = new AutoCompaction.Periodic(Duration.ofMinutes(10), 0);
    for (long minute = 0; minute < 10; minute++) {
      assertThat(rule.due(minute * MINUTE, minute, true)).isEmpty();
    }
    assertThat(rule.due(10 * MINUTE, 10, true)).hasValue(0);
    assertThat(rule.due(11 * MINUTE, 11, true)).hasValue(1);
    rule.compacted(11 * MINUTE, 1);
    assertThat(rule.due(12 * MINUTE, 12, true)).isEmpty();
  }

  @Test
  void unchangedRevisionIsSkipped_AC1() {
    AutoCompaction rule = new AutoCompaction.Periodic(Duration.ofMinutes(10), 0);
    List<Long> minutes = new ArrayList<>();
    for (long minute = 0; minute <= 45; minute++) {
      OptionalLong due = rule.due(minute * MINUTE, minute < 25 ? 7 : 8, true);
      if (due.isPresent()) {
        rule.compacted(minute * MINUTE, due.getAsLong());
        minutes.add(minute);
      }
    }
    // The store has revision 8 from minute 25 on, so it is ten minutes old in minute 35.
    assertThat(minutes).containsExactly(10L, 35L);
  }

  @Test
  void revisionRetentionIsCheckedEveryFiveMinutes_AC2() {
    AutoCompaction rule = new AutoCompaction.ByRevision(12);
    assertThat(rule.interval()).isEqualTo(Duration.ofMinutes(5));
    assertThat(rule.initialDelay()).isEqualTo(Duration.ofMinutes(5));
    assertThat(run(rule, 26, true)).containsExactly("15:3", "20:8", "25:13");
    assertThat(rule.due(30 * MINUTE, 25, true)).as("unchanged").isEmpty();
  }

  @Test
  void onlyLeaderCompactsAndNewLeaderHasSamples_AC3() {
    AutoCompaction rule = new AutoCompaction.Periodic(Duration.ofMinutes(10), 0);
    assertThat(run(rule, 30, false)).isEmpty();
    assertThat(rule.due(31 * MINUTE, 31, true)).hasValue(21);
    assertThat(run(new AutoCompaction.ByRevision(1), 60, false)).isEmpty();
  }
}
