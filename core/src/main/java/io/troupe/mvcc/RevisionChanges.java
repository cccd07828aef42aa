package io.troupe.mvcc;

import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one request did to keys.
 *
 * @param events its events in sub-revision order; empty when no key changed, and when {@code
 *     unlisted} is set; immutable
 * @param unlisted null unless the events are too large to keep: then a range that holds every
 *     changed key, and the events are to be read from history
 * @param bytes about what the events take in memory
 */
public record RevisionChanges(List<Event> events, @Nullable KeyRange unlisted, long bytes) {
  /** No key changed. */
  public static final RevisionChanges NONE = new RevisionChanges(List.of(), null, 0);

  /** True when no key changed. */
  public boolean isEmpty() {
    return events.isEmpty() && unlisted == null;
  }
}
