package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The state of a member from the end of its log and its state machine. */
class RaftStateTest {
  private static final NodeId SELF = new NodeId(1);

  /** Entries of term 1 up to index 5, and of term 2 after it. */
  private static List<Entry> entries(long first, long last) {
    return LongStream.rangeClosed(first, last)
        .mapToObj(index -> new Entry(index <= 5 ? 1 : 2, index, Entry.Kind.NOOP, Bytes.EMPTY))
        .toList();
  }

  private static RaftState recovered(long applied, List<Entry> recent) {
    return RaftState.recovered(
        SELF,
        new HardState(3, NodeId.NONE, applied),
        Membership.EMPTY,
        applied,
        applied <= 5 ? 1 : 2,
        recent);
  }

  private static void assertStartsAfter(RaftState state, long index, long term) {
    assertThat(state.snapshotIndex()).isEqualTo(index);
    assertThat(state.snapshotTerm()).isEqualTo(term);
  }

  @Test
  void wholeLogStartsAtZero() {
    RaftState state = recovered(4, entries(1, 7));
    assertStartsAfter(state, 0, 0);
    assertThat(state.entries()).isEqualTo(entries(1, 7));
    assertThat(state.applied()).isEqualTo(4);
  }

  @Test
  void firstKeptEntryIsThePositionOfTheRest() {
    RaftState state = recovered(6, entries(5, 8));
    assertStartsAfter(state, 5, 1);
    assertThat(state.entries()).isEqualTo(entries(6, 8));
    assertThat(state.applied()).isEqualTo(6);
  }

  @Test
  void logAfterAppliedIndexStartsAtAppliedEntry() {
    RaftState state = recovered(6, entries(7, 8));
    assertStartsAfter(state, 6, 2);
    assertThat(state.entries()).isEqualTo(entries(7, 8));
  }

  @Test
  void logThatEndsAtAppliedIndexIsEmptyAfterIt() {
    assertStartsAfter(recovered(6, entries(6, 6)), 6, 2);
    assertStartsAfter(recovered(6, List.of()), 6, 2);
    assertThat(recovered(6, entries(6, 6)).entries()).isEmpty();
  }

  @Test
  void gapAfterAppliedIndexIsRejected() {
    assertThatThrownBy(() -> recovered(5, entries(7, 8)))
        .isInstanceOf(Invariant.Broken.class)
        .hasMessageContaining("gap in the recovered log");
  }
}
