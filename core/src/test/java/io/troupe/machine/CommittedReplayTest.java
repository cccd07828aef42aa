package io.troupe.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.mvcc.InMemoryOrderedStore;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Committed entries of the log are applied in pieces before the actors start. */
class CommittedReplayTest {
  private final InMemoryOrderedStore store = new InMemoryOrderedStore();
  private final StateMachine machine = new StateMachine(store, 0);
  private final List<String> calls = new ArrayList<>();

  /** Ten entries in pieces of three; odd ones are puts. */
  private final class Log implements CommittedReplay.Log {
    private long missing = Long.MAX_VALUE;
    private long lastRevision = Long.MAX_VALUE;

    @Override
    public List<Entry> read(long from, long until) {
      calls.add("read " + from + " until " + until);
      if (from >= missing) {
        throw new IllegalStateException("entry " + from + " is missing");
      }
      return LongStream.range(from, Math.min(until, from + 3)).mapToObj(this::entry).toList();
    }

    private Entry entry(long index) {
      boolean put = index % 2 == 1;
      return new Entry(
          1,
          index,
          put ? Entry.Kind.OPERATION : Entry.Kind.NOOP,
          put ? Bytes.utf8("key" + index) : Bytes.EMPTY);
    }

    @Override
    public DecodedOperation decode(Entry entry) {
      return new DecodedOperation(
          new RequestId(entry.index()),
          Requester.ANONYMOUS,
          new Operation.Put(entry.data(), entry.data(), 0, false, false, false));
    }

    @Override
    public void operationApplied(Entry entry, Applied applied) {
      calls.add("applied " + entry.index() + " as revision " + applied.revision());
    }

    @Override
    public boolean isLast(Entry entry, long revision) {
      return revision >= lastRevision;
    }

    @Override
    public void progress(long index) {
      calls.add("progress " + index);
      assertThat(new StateMachine(store, 0).appliedIndex()).as("in the store").isEqualTo(index);
    }
  }

  @Test
  void entriesAreAppliedInPiecesUpToCommitted() {
    CommittedReplay.apply(machine, 5, new Log());
    assertThat(calls)
        .containsExactly(
            "read 1 until 6",
            "applied 1 as revision 2",
            "applied 3 as revision 3",
            "progress 3",
            "read 4 until 6",
            "applied 5 as revision 4",
            "progress 5");
    assertThat(machine.appliedIndex()).isEqualTo(5);
    assertThat(machine.currentRevision()).isEqualTo(4);
  }

  @Test
  void onlyEntriesThatTheStateLacksAreRead() {
    CommittedReplay.apply(machine, 5, new Log());
    calls.clear();
    CommittedReplay.apply(machine, 5, new Log());
    CommittedReplay.apply(machine, 2, new Log());
    assertThat(calls).isEmpty();
    CommittedReplay.apply(machine, 6, new Log());
    assertThat(calls).containsExactly("read 6 until 7", "progress 6");
  }

  @Test
  void replayEndsWithTheEntryThatTheLogNames() {
    Log log = new Log();
    log.lastRevision = 3;
    CommittedReplay.apply(machine, 10, log);
    assertThat(calls)
        .containsExactly(
            "read 1 until 11", "applied 1 as revision 2", "applied 3 as revision 3", "progress 3");
    log.lastRevision = 4;
    CommittedReplay.apply(machine, 10, log);
    assertThat(machine.appliedIndex()).as("in the middle of a piece").isEqualTo(5);
    assertThat(machine.currentRevision()).isEqualTo(4);
  }

  @Test
  void missingEntryEndsTheReplay() {
    Log log = new Log();
    log.missing = 4;
    assertThatThrownBy(() -> CommittedReplay.apply(machine, 5, log))
        .hasMessage("entry 4 is missing");
    assertThat(machine.appliedIndex()).isEqualTo(3);
  }
}
