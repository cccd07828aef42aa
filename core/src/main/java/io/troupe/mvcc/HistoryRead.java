package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Converts changes to events, over two frozen cursors that the caller closes. */
final class HistoryRead {
  /**
   * Changes walked over in one call, so that a range with few events cannot block a reader for
   * long.
   */
  private static final int MAX_CHANGES = 20_000;

  private final Cursor changes;
  private final VersionCursor rows;
  private final KeyRange range;
  private final boolean withPrev;
  private final ReadView view;

  HistoryRead(Cursor changes, VersionCursor rows, KeyRange range, boolean withPrev, ReadView view) {
    this.changes = changes;
    this.rows = rows;
    this.range = range;
    this.withPrev = withPrev;
    this.view = view;
  }

  /**
   * Continues to read until a limit is reached at the end of a revision, or until the end of the
   * cursor. Reads a part of a revision that is larger than {@code pieceBytes} or changes very many
   * keys.
   */
  HistoryResult.Events read(int maxRevisions, long maxBytes, long pieceBytes) {
    List<Event> events = new ArrayList<>();
    long bytes = 0;
    int revisions = 0;
    int walked = 0;
    long open = -1;
    long openWithEvents = -1;
    int openFrom = 0;
    while (changes.next()) {
      long main = StoreKeys.revisionMain(changes.key());
      if (main != open) {
        if (revisions >= maxRevisions || bytes >= maxBytes || walked >= MAX_CHANGES) {
          return result(events, main, 0);
        }
        open = main;
        openFrom = events.size();
      } else if (bytes >= pieceBytes || walked >= MAX_CHANGES) {
        // Whole revisions first; a part of the current revision only if there is nothing else.
        return openFrom > 0
            ? result(events.subList(0, openFrom), main, 0)
            : result(events, main, StoreKeys.revisionSub(changes.key()));
      }
      walked++;
      Bytes change = changes.value();
      Bytes key = RowCodec.changedKey(change);
      if (!range.contains(key)) {
        continue;
      }
      if (main != openWithEvents) {
        openWithEvents = main;
        revisions++;
      }
      Event event = event(key, main, RowCodec.isTombstoneChange(change));
      events.add(event);
      bytes += bytes(event);
    }
    return result(events, view.revision() + 1, 0);
  }

  private HistoryResult.Events result(List<Event> events, long next, int nextSub) {
    return new HistoryResult.Events(
        Collections.unmodifiableList(events), next, nextSub, view.revision());
  }

  private Event event(Bytes key, long main, boolean tombstone) {
    Bytes row = StoreKeys.row(key, main, StoreKeys.revisionSub(changes.key()), tombstone);
    if (!tombstone || withPrev) {
      if (!rows.seekExactly(key, row)) {
        throw new StoreException("no row for a change of revision " + main);
      }
    }
    if (tombstone) {
      return Event.delete(key, main, prev(row, main));
    }
    KeyValue kv = RowCodec.keyValue(row, rows.value());
    return new Event(Event.Type.PUT, kv, kv.createRevision() == main ? null : prev(row, main));
  }

  /** The record at {@code main - 1}, with the cursor at {@code row}; W11. */
  private @Nullable KeyValue prev(Bytes row, long main) {
    if (!withPrev || main - 1 < view.compactedRevision()) {
      return null;
    }
    while (rows.nextInHistory()) {
      Bytes older = rows.key();
      if (!StoreKeys.sameKey(row, older)) {
        return null;
      }
      if (StoreKeys.main(older) < main) {
        return StoreKeys.isTombstone(older) ? null : RowCodec.keyValue(older, rows.value());
      }
    }
    return null;
  }

  /** Approximate memory of an event. */
  static long bytes(Event event) {
    KeyValue prev = event.prev();
    return 64L
        + event.kv().key().length()
        + event.kv().value().length()
        + (prev == null ? 0 : prev.key().length() + prev.value().length());
  }
}
