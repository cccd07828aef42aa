package io.troupe.simulation.check;

import static io.troupe.simulation.check.Histories.A;
import static io.troupe.simulation.check.Histories.B;
import static io.troupe.simulation.check.Histories.kv;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.simulation.history.WatchRecord;
import io.troupe.simulation.history.WatchReply;
import io.troupe.watch.EventFilter;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class WatchCheckTest {
  private static final KeyValue A2 = kv(A, 2, 2, 1, "x");
  private static final Event PUT2 = new Event(Event.Type.PUT, A2, null);
  private static final KeyValue A3 = kv(A, 2, 3, 2, "y");
  private static final Event PUT3 = new Event(Event.Type.PUT, A3, A2);
  private static final Event B3 = new Event(Event.Type.PUT, kv(B, 3, 3, 1, "z"), null);
  private static final Event DELETE4 = Event.delete(A, 4, A3);
  private static final Event B5 = new Event(Event.Type.PUT, kv(B, 3, 5, 2, "w"), B3.kv());
  private static final SortedMap<Long, List<Event>> COMMITTED =
      new TreeMap<>(
          Map.of(2L, List.of(PUT2), 3L, List.of(PUT3, B3), 4L, List.of(DELETE4), 5L, List.of(B5)));

  private final WatchCheck check = new WatchCheck(COMMITTED, 0);

  private static WatchRecord watch(long start, WatchReply... replies) {
    return watch(
        new WatchRecord.Asked(KeyRange.all(), start, EventFilter.NONE, true, false, true), replies);
  }

  private static WatchRecord watch(WatchRecord.Asked asked, WatchReply... replies) {
    WatchRecord record = new WatchRecord(asked);
    record.add(new WatchReply.Created(1, 1));
    for (WatchReply reply : replies) {
      record.add(reply);
    }
    return record;
  }

  private static WatchReply events(Event... events) {
    return new WatchReply.Events(
        1, events[events.length - 1].kv().modRevision(), List.of(events), false);
  }

  private static WatchReply fragment(Event... events) {
    return new WatchReply.Events(
        1, events[events.length - 1].kv().modRevision(), List.of(events), true);
  }

  private static WatchReply progress(long revision) {
    return new WatchReply.Progress(1, revision);
  }

  private void breaks(WatchRecord record, String what) {
    assertThatThrownBy(() -> check.check(record))
        .isInstanceOf(Violation.class)
        .hasMessageContaining(what);
  }

  @Test
  void correctHistoryHolds() {
    check.checkComplete(
        watch(2, events(PUT2), events(PUT3, B3), progress(3), events(DELETE4), events(B5)), 5);
    check.check(watch(2, events(PUT2, PUT3, B3, DELETE4)));
    check.check(watch(4, events(DELETE4)));
  }

  @Test
  void gapIsDetected() {
    breaks(watch(2, events(PUT2), events(DELETE4)), "reliable");
    assertThatThrownBy(() -> check.checkComplete(watch(2, events(PUT2)), 5))
        .hasMessageContaining("missing at the end");
  }

  @Test
  void skippedFirstRevisionAfterHistoryIsDetected() {
    breaks(watch(2, events(PUT2, PUT3, B3), events(B5)), "reliable");
  }

  @Test
  void duplicateIsDetected() {
    breaks(watch(2, events(PUT2), events(PUT2)), "unique");
    breaks(watch(2, events(PUT2), events(PUT3, PUT3)), "another event");
    breaks(watch(2, events(PUT2), events(PUT3, B3, B3)), "unique");
  }

  @Test
  void disorderIsDetected() {
    breaks(watch(2, events(PUT3, B3), events(PUT2)), "reliable");
    breaks(watch(2, events(PUT2), events(B3, PUT3)), "another event");
  }

  @Test
  void splitRevisionIsDetected() {
    breaks(watch(2, events(PUT2), events(PUT3), events(B3)), "atomic");
    breaks(watch(2, events(PUT2), fragment(PUT3), events(B3)), "atomic: fragment");
  }

  @Test
  void fragmentsMaySplitRevisionButMustCompleteIt() {
    WatchRecord.Asked asked =
        new WatchRecord.Asked(KeyRange.all(), 2, EventFilter.NONE, true, true, true);
    check.check(watch(asked, fragment(PUT2), fragment(PUT3), events(B3)));
    breaks(watch(asked, fragment(PUT2), fragment(PUT3), events(DELETE4)), "atomic");
    breaks(watch(asked, fragment(PUT2, PUT3), progress(3)), "between fragments");
  }

  @Test
  void earlyProgressIsDetected() {
    breaks(watch(2, events(PUT2), progress(3)), "bookmarkable: too early");
    breaks(watch(2, events(PUT2), events(PUT3, B3), progress(2)), "bookmarkable: goes back");
  }

  @Test
  void eventAtOrBeforeBookmarkIsDetected() {
    check.check(watch(6, progress(5)));
    breaks(watch(2, events(PUT2), events(PUT3, B3), progress(3), events(PUT3, B3)), "unique");
  }

  @Test
  void eventOfAbortedTransactionIsDetected() {
    Event never = new Event(Event.Type.PUT, kv(B, 4, 4, 1, "never"), null);
    breaks(watch(2, events(PUT2), events(PUT3, B3), events(DELETE4, never)), "an event too many");
    Event six = new Event(Event.Type.PUT, kv(B, 6, 6, 1, "never"), null);
    breaks(watch(6, events(six)), "an event too many");
  }

  @Test
  void wrongPreviousValueIsDetected() {
    Event wrong = new Event(Event.Type.PUT, A3, kv(A, 2, 2, 1, "other"));
    breaks(watch(2, events(PUT2), events(wrong, B3)), "previous value");
    Event none = new Event(Event.Type.PUT, A3, null);
    breaks(watch(2, events(PUT2), events(none, B3)), "previous value");
    // After a compaction it may be missing.
    new WatchCheck(COMMITTED, 4).check(watch(2, events(PUT2), events(none, B3)));
  }

  @Test
  void wrongCreateFlagIsDetected() {
    Event created = new Event(Event.Type.PUT, kv(A, 3, 3, 1, "y"), A2);
    breaks(watch(2, events(PUT2), events(created, B3)), "create flag");
  }

  @Test
  void filtersAndRangesAreChecked() {
    WatchRecord.Asked puts =
        new WatchRecord.Asked(
            KeyRange.single(A), 2, new EventFilter(false, true), true, false, false);
    check.checkComplete(watch(puts, events(PUT2), events(PUT3)), 5);
    breaks(watch(puts, events(PUT2), events(PUT3), events(DELETE4)), "filters");
    breaks(watch(puts, events(PUT2), events(PUT3, B3)), "filters");
  }

  @Test
  void cancellationNeedsCompactionAfterPosition() {
    WatchCheck compacted = new WatchCheck(COMMITTED, 4);
    compacted.check(watch(2, new WatchReply.Canceled(1, 4)));
    assertThatThrownBy(() -> compacted.check(watch(4, new WatchReply.Canceled(1, 4))))
        .hasMessageContaining("resumable");
    assertThatThrownBy(() -> compacted.check(watch(2, new WatchReply.Canceled(1, 5))))
        .hasMessageContaining("resumable");
    assertThatThrownBy(() -> compacted.check(watch(2, new WatchReply.Canceled(1, 4), events(PUT2))))
        .hasMessageContaining("after the end");
  }

  @Test
  void eventBeforeStartOrCreationIsDetected() {
    breaks(watch(3, events(PUT2)), "before the start");
    WatchRecord record =
        new WatchRecord(
            new WatchRecord.Asked(KeyRange.all(), 2, EventFilter.NONE, true, false, true));
    record.add(events(PUT2));
    breaks(record, "before the watcher was created");
  }

  @Test
  void startWithoutRevisionBeginsAfterCreation() {
    WatchRecord record =
        new WatchRecord(
            new WatchRecord.Asked(KeyRange.all(), 0, EventFilter.NONE, true, false, true));
    record.add(new WatchReply.Created(1, 3));
    record.add(events(B5));
    breaks(record, "reliable");
  }
}
