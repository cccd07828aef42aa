package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What a leader knows of a follower: Raft dissertation 10.2.1. */
class ProgressTest {
  private final Progress progress = new Progress(11, 3);

  @Test
  void probesOneMessageAtATime() {
    progress.sent(2, 12, 0);
    assertThat(progress.isPaused()).isTrue();
    progress.resume();
    assertThat(progress.isPaused()).isFalse();
    assertThat(progress.next()).as("a probe is sent again").isEqualTo(11);
  }

  @Test
  void replicatesAheadUpToTheWindow() {
    assertThat(progress.matched(10)).isTrue();
    assertThat(progress.state()).isEqualTo(Progress.State.REPLICATE);
    for (long last = 12; last <= 16; last += 2) {
      assertThat(progress.isPaused()).isFalse();
      progress.sent(2, last, 0);
    }
    assertThat(progress.isPaused()).isTrue();
    assertThat(progress.next()).isEqualTo(17);
    assertThat(progress.matched(14)).isTrue();
    assertThat(progress.isPaused()).isFalse();
    assertThat(progress.matched(12)).as("late").isFalse();
    assertThat(progress.match()).isEqualTo(14);
  }

  @Test
  void rejectionWhileReplicatingMeansLoss() {
    progress.matched(10);
    progress.sent(2, 12, 0);
    assertThat(progress.rejected(12, 12)).isTrue();
    assertThat(progress.state()).isEqualTo(Progress.State.PROBE);
    assertThat(progress.next()).isEqualTo(12);
    assertThat(progress.rejected(10, 3)).as("contradicts what it said before").isFalse();
  }

  @Test
  void neverGoesBelowWhatMatched() {
    progress.matched(10);
    assertThat(progress.rejected(15, 2)).isTrue();
    assertThat(progress.next()).isEqualTo(11);
  }

  @Test
  void oldRejectionOfAProbeIsIgnored() {
    assertThat(progress.rejected(10, 4)).isTrue();
    assertThat(progress.next()).isEqualTo(5);
    assertThat(progress.rejected(10, 4)).isFalse();
  }
}
