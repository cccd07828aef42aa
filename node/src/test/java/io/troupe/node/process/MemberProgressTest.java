package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MemberProgressTest {
  private static MemberProgress reading(
      long pendingWrite, long committed, long applied, long ticks) {
    return new MemberProgress(pendingWrite, committed, applied, ticks, false);
  }

  @Test
  void idleMemberMakesProgress() {
    assertThat(reading(0, 5, 5, 20).stuckSince(reading(0, 5, 5, 10))).isEmpty();
  }

  @Test
  void sameWriteTwiceIsAHangingDisk() {
    assertThat(reading(7, 5, 5, 20).stuckSince(reading(7, 5, 5, 10)))
        .containsExactly("the disk does not complete a write of the log");
    assertThat(reading(9, 5, 5, 20).stuckSince(reading(7, 5, 5, 10))).isEmpty();
    assertThat(reading(7, 5, 5, 20).stuckSince(reading(0, 5, 5, 10))).isEmpty();
  }

  @Test
  void sameAppliedIndexBelowTheCommitIndexIsStuck() {
    assertThat(reading(0, 9, 5, 20).stuckSince(reading(0, 6, 5, 10)))
        .containsExactly("committed entries are not applied");
    assertThat(reading(0, 9, 6, 20).stuckSince(reading(0, 6, 5, 10))).isEmpty();
    // Committed only now.
    assertThat(reading(0, 9, 5, 20).stuckSince(reading(0, 5, 5, 10))).isEmpty();
  }

  @Test
  void raftActorWithoutTicksIsStuck() {
    assertThat(reading(0, 5, 5, 10).stuckSince(reading(0, 5, 5, 10)))
        .containsExactly("the raft actor does not run");
  }

  @Test
  void onlyTheDiskCountsWhileASnapshotIsInstalled() {
    MemberProgress before = new MemberProgress(7, 9, 5, 10, false);
    assertThat(new MemberProgress(0, 9, 5, 10, true).stuckSince(before)).isEmpty();
    assertThat(new MemberProgress(7, 9, 5, 10, true).stuckSince(before)).hasSize(1);
    MemberProgress installing = new MemberProgress(0, 9, 5, 10, true);
    assertThat(new MemberProgress(0, 9, 5, 10, false).stuckSince(installing)).isEmpty();
  }
}
