package io.troupe.mvcc;

import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The changes of keys by one request.
 *
 * @param events its events in sub-revision order; empty if no key changed, and if {@code unlisted}
 *     is set; immutable
 * @param unlisted null unless the events are too large to keep: then a range that contains every
 *     changed key, and the events must be read from history
 * @param bytes approximate memory of the events
 */
public record RevisionChanges(List<Event> events, @Nullable KeyRange unlisted, long bytes) {
  /** No key changed. */
  public static final RevisionChanges NONE = new RevisionChanges(List.of(), null, 0);

  /** True if no key changed. */
  public boolean isEmpty() {
    return events.isEmpty() && unlisted == null;
  }
}
