package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The changes of the request that is being applied: their number, and their events while these fit
 * into a limit. Of a larger request only the span of its keys is kept; watchers read such a
 * revision from history.
 */
final class RevisionEvents {
  /** Approximate overhead of an event in addition to keys and values. */
  private static final int EVENT_BYTES = 250;

  private final long maxBytes;
  private List<Event> events = new ArrayList<>();
  private int changes;
  private long bytes;
  private @Nullable Bytes least;
  private @Nullable Bytes greatest;

  /** Keeps events of at most {@code maxBytes} for each request. */
  RevisionEvents(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Number of changes so far, which is the sub revision of the next one. */
  int count() {
    return changes;
  }

  /** False if the events are too large to keep: callers need not create any more. */
  boolean areKept() {
    return greatest == null;
  }

  /** Adds a change whose event is kept. */
  void add(Event event) {
    changes++;
    bytes += weight(event);
    events.add(event);
    if (bytes > maxBytes) {
      least = event.kv().key();
      greatest = least;
      events.forEach(known -> widen(known.kv().key()));
      events = new ArrayList<>();
    }
  }

  /** Adds a change of a request whose events are not kept. */
  void addUnlisted(Bytes key) {
    changes++;
    widen(key);
  }

  private void widen(Bytes key) {
    if (least == null || key.compareTo(least) < 0) {
      least = key;
    }
    if (greatest == null || key.compareTo(greatest) > 0) {
      greatest = key;
    }
  }

  /** Completes the request; the next one starts without changes. */
  RevisionChanges take() {
    KeyRange span =
        least == null || greatest == null ? null : new KeyRange(least, greatest.successor());
    RevisionChanges taken = new RevisionChanges(List.copyOf(events), span, bytes);
    events.clear();
    changes = 0;
    bytes = 0;
    least = null;
    greatest = null;
    return taken;
  }

  private static long weight(Event event) {
    KeyValue prev = event.prev();
    return EVENT_BYTES
        + event.kv().key().length()
        + (long) event.kv().value().length()
        + (prev == null ? 0 : prev.key().length() + (long) prev.value().length());
  }
}
