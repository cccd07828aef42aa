package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Converts the versions of one key to events. It walks over the versions of that key alone, so its
 * cost does not depend on the number of other keys that changed.
 */
final class KeyHistoryRead {
  private final OrderedStore store;
  private final Bytes key;
  private final boolean withPrev;

  KeyHistoryRead(OrderedStore store, Bytes key, boolean withPrev) {
    this.store = store;
    this.key = key;
    this.withPrev = withPrev;
  }

  /** Opens a cursor over the versions from a revision on, oldest first. */
  Cursor cursor(long fromRevision) {
    Bytes after = StoreKeys.newestAt(key, Math.max(fromRevision, 1) - 1);
    return store.cursor(Space.KEY, StoreKeys.firstOf(key), after, true);
  }

  /**
   * Continues to read until a limit is reached at the end of a revision, or until the end of the
   * cursor.
   */
  HistoryResult.Events read(Cursor versions, ReadView view, int maxRevisions, long maxBytes) {
    List<Event> events = new ArrayList<>();
    long bytes = 0;
    int revisions = 0;
    long open = -1;
    @Nullable KeyValue before = null;
    @Nullable KeyValue newest = null;
    while (versions.next()) {
      long main = StoreKeys.main(versions.key());
      if (main > view.revision()) {
        break;
      }
      if (main != open) {
        if (revisions >= maxRevisions || bytes >= maxBytes) {
          return result(events, main, view);
        }
        // The record before the first version is not among the versions of the walk.
        before = open == -1 ? recordAt(main - 1, view) : newest;
        open = main;
        revisions++;
      }
      newest =
          StoreKeys.isTombstone(versions.key())
              ? null
              : RowCodec.keyValue(versions.key(), versions.value());
      Event event = event(newest, main, before, view);
      events.add(event);
      bytes += HistoryRead.bytes(event);
    }
    return result(events, view.revision() + 1, view);
  }

  private static HistoryResult.Events result(List<Event> events, long next, ReadView view) {
    return new HistoryResult.Events(Collections.unmodifiableList(events), next, 0, view.revision());
  }

  /** W11: without the previous record if its revision is compacted. */
  private Event event(@Nullable KeyValue put, long main, @Nullable KeyValue before, ReadView view) {
    KeyValue prev = withPrev && main - 1 >= view.compactedRevision() ? before : null;
    if (put == null) {
      return Event.delete(key, main, prev);
    }
    return new Event(Event.Type.PUT, put, put.createRevision() == main ? null : prev);
  }

  private @Nullable KeyValue recordAt(long revision, ReadView view) {
    if (!withPrev || revision < view.compactedRevision()) {
      return null;
    }
    Bytes from = StoreKeys.newestAt(key, revision);
    try (Cursor row = store.cursor(Space.KEY, from, StoreKeys.after(key), false)) {
      return row.next() && !StoreKeys.isTombstone(row.key())
          ? RowCodec.keyValue(row.key(), row.value())
          : null;
    }
  }
}
