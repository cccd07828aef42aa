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

  /** The versions of the key, oldest first. One thread; the owner closes it. */
  static final class Versions implements AutoCloseable {
    private final @Nullable NewestRecord newest;
    private final Cursor older;
    private Bytes row = Bytes.EMPTY;
    private boolean onNewest;

    /** LATEST was read first: a version that was replaced since then is in both. */
    private Versions(@Nullable NewestRecord newest, Cursor older) {
      this.newest = newest;
      this.older = older;
    }

    private boolean next() {
      if (!onNewest && older.next()) {
        row = older.key();
        return true;
      }
      NewestRecord last = newest;
      // Rows sort from the newest version to the oldest.
      if (onNewest || last == null || (!row.isEmpty() && last.row().compareTo(row) >= 0)) {
        return false;
      }
      onNewest = true;
      row = last.row();
      return true;
    }

    private @Nullable KeyValue record() {
      if (onNewest && newest != null) {
        return newest.kv();
      }
      return StoreKeys.isTombstone(row) ? null : RowCodec.keyValue(row, older.value());
    }

    @Override
    public void close() {
      older.close();
    }
  }

  /** Opens the versions from a revision on. */
  Versions versions(long fromRevision) {
    long from = Math.max(fromRevision, 1);
    Bytes latest = store.get(Space.LATEST, key);
    NewestRecord newest = latest == null ? null : RowCodec.latest(key, latest);
    boolean wanted =
        newest != null
            && newest.sub() != NewestRecord.IN_HISTORY
            && newest.kv().modRevision() >= from;
    Bytes after = StoreKeys.newestAt(key, from - 1);
    return new Versions(
        wanted ? newest : null, store.cursor(Space.KEY, StoreKeys.firstOf(key), after, true));
  }

  /**
   * Continues to read until a limit is reached at the end of a revision, or until the end of the
   * versions.
   */
  HistoryResult.Events read(Versions versions, ReadView view, int maxRevisions, long maxBytes) {
    List<Event> events = new ArrayList<>();
    long bytes = 0;
    int revisions = 0;
    long open = -1;
    @Nullable KeyValue before = null;
    @Nullable KeyValue newest = null;
    while (versions.next()) {
      long main = StoreKeys.main(versions.row);
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
      newest = versions.record();
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
