package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RaftLogTest {
  private static final int SIZE = RaftLog.ENTRY_OVERHEAD_BYTES + entry(1, 10).data().length();

  private static RaftLog log(Entry... entries) {
    return new RaftLog(
        new RaftState(
            ONE,
            new HardState(9, NodeId.NONE, 0),
            RaftFixture.voters(1),
            0,
            0,
            List.of(entries),
            0));
  }

  private static RaftLog longLog(int length) {
    RaftLog log = log();
    for (int i = 1; i <= length; i++) {
      log.append(entry(1, i));
    }
    log.commitTo(length);
    log.stableTo(length);
    return log;
  }

  @Test
  void ringGrowsAndWrapsAround() {
    RaftLog log = log();
    for (long i = 1; i <= 3000; i++) {
      log.append(entry(i / 700 + 1, i));
      if (i % 3 == 0) {
        log.commitTo(i);
        log.stableTo(i);
        log.compactTo(i - 200 - i % 200 > 0 ? i - 200 - i % 200 : 0);
      }
    }
    for (long i = log.firstIndex(); i <= 3000; i++) {
      assertThat(log.get(i)).isEqualTo(entry(i / 700 + 1, i));
      assertThat(log.termAt(i)).isEqualTo(i / 700 + 1);
    }
    assertThat(log.termAt(3001)).isEqualTo(-1);
    assertThat(log.termAt(log.snapshotIndex() - 1)).isEqualTo(-1);
    long held =
        LongStream.rangeClosed(log.firstIndex(), 3000)
            .map(i -> log.get(i).data().length() + RaftLog.ENTRY_OVERHEAD_BYTES)
            .sum();
    assertThat(log.bytesInMemory()).isEqualTo(held);
  }

  @Test
  void sliceKeepsLimitsButReturnsAtLeastOneEntry() {
    RaftLog log = longLog(20);
    assertThat(log.slice(10, 21, 3, 1000))
        .containsExactly(entry(1, 10), entry(1, 11), entry(1, 12));
    assertThat(log.slice(10, 21, 100, 11)).containsExactly(entry(1, 10), entry(1, 11));
    assertThat(log.slice(10, 21, 100, 1)).containsExactly(entry(1, 10));
    assertThat(log.slice(21, 21, 100, 100)).isEmpty();
  }

  @Test
  void entriesOutsideMemoryKeepTheirTerms() {
    RaftLog log = longLog(100);
    log.trimMemory(60, 0);
    assertThat(log.bytesInMemory()).isEqualTo(40L * SIZE + 1);
    assertThat(log.firstIndex()).isEqualTo(1);
    assertThat(log.firstInMemory()).isEqualTo(61);
    assertThat(log.termAt(30)).isEqualTo(1);
    assertThat(log.slice(61, 101, 2, 1000)).containsExactly(entry(1, 61), entry(1, 62));
    assertThatThrownBy(() -> log.slice(60, 101, 2, 1000)).isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void foreignEntriesFromDiskAreDetected() {
    RaftLog log = longLog(100);
    log.requireOwn(7, List.of(entry(1, 7), entry(1, 8)));
    assertThatThrownBy(() -> log.requireOwn(7, List.of(entry(2, 7))))
        .isInstanceOf(Invariant.Broken.class);
    assertThatThrownBy(() -> log.requireOwn(7, List.of(entry(1, 8))))
        .isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void snapshotReplacesEverything_5_3() {
    RaftLog log = longLog(10);
    log.append(entry(2, 11));
    log.restart(20, 5);
    assertThat(log.firstIndex()).isEqualTo(21);
    assertThat(log.lastIndex()).isEqualTo(20);
    assertThat(log.lastTerm()).isEqualTo(5);
    assertThat(log.commit()).isEqualTo(20);
    assertThat(log.stable()).as("not durable yet").isEqualTo(10);
    assertThat(log.bytesInMemory()).isZero();
    log.append(entry(5, 21));
    log.stableTo(21);
    assertThatThrownBy(() -> log.restart(20, 5)).isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void truncationLowersStableIndex() {
    RaftLog log = log(entry(1, 1), entry(1, 2), entry(2, 3));
    assertThat(log.stable()).isEqualTo(3);
    log.truncateFrom(2);
    assertThat(log.stable()).isEqualTo(1);
    assertThat(log.lastTerm()).isEqualTo(1);
    log.append(entry(5, 2));
    assertThat(log.stable()).isEqualTo(1);
    assertThat(log.termAt(2)).isEqualTo(5);
  }
}
