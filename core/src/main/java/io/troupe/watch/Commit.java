package io.troupe.watch;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All changes of one revision.
 *
 * @param events in the order in which they were made; empty if {@code unlisted} is set
 * @param unlisted null unless the events are too large to keep: then a range that contains all
 *     changed keys, and watchers of any of them read the revision from history
 */
public record Commit(long revision, List<Event> events, @Nullable KeyRange unlisted) {
  /** For a revision whose events are all listed. */
  public Commit(long revision, List<Event> events) {
    this(revision, events, null);
  }

  /** True if the revision changed no key. */
  boolean isEmpty() {
    return events.isEmpty() && unlisted == null;
  }

  /** A range that contains all changed keys, at least one. */
  KeyRange keys() {
    if (unlisted != null) {
      return unlisted;
    }
    Bytes first = events.get(0).kv().key();
    Bytes last = first;
    for (Event event : events) {
      Bytes key = event.kv().key();
      first = key.compareTo(first) < 0 ? key : first;
      last = key.compareTo(last) > 0 ? key : last;
    }
    return new KeyRange(first, last.successor());
  }
}
