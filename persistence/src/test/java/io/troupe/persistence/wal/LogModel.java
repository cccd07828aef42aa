package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import java.util.ArrayList;
import java.util.List;

/** A naive model of the content of a log: the reference of the log's tests. Immutable. */
record LogModel(HardState state, List<Entry> entries, long compactedIndex, long last) {
  static final LogModel EMPTY = new LogModel(HardState.INITIAL, List.of(), 0, 0);

  LogModel append(HardState next, List<Entry> added) {
    List<Entry> all = new ArrayList<>(entries);
    long end = last;
    for (Entry entry : added) {
      all.removeIf(e -> e.index() >= entry.index());
      all.add(entry);
      end = entry.index();
    }
    return new LogModel(next, List.copyOf(all), compactedIndex, end);
  }

  LogModel restartAfter(long index) {
    return new LogModel(state, List.of(), index, index);
  }

  /** The entries above {@code index}, which must exist whatever was removed. */
  List<Entry> above(long index) {
    return entries.stream().filter(e -> e.index() > index).toList();
  }
}
