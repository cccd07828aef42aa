package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A forward walk over all versions of user keys, as rows of {@link Space#KEY}. The newest version
 * of a key is stored in {@link Space#LATEST} alone, and moves to KEY when it is replaced; this walk
 * joins both. Used by one thread.
 *
 * <p>The cursor over LATEST must be opened first. A version that is replaced in between is in both
 * and returned once. So the walk contains every version up to the revision of its view of LATEST,
 * as far as compactions have not removed it.
 */
final class VersionCursor implements Cursor {
  private enum Head {
    NEWEST,
    OLDER
  }

  private final Cursor newest;
  private final Cursor older;

  /** Heads: true if the cursor is at a row that this walk has not passed. */
  private boolean onNewest;

  private boolean onOlder;

  private Head head = Head.OLDER;

  /** The cursor that must still be moved behind the current row, after a look-up. */
  private @Nullable Head unmoved;

  private boolean started;

  /** The row of KEY that the head of {@link #newest} would be. */
  private byte[] row = new byte[128];

  private int rowLength;

  /** Bytes of the value in LATEST before the value that the row of KEY would have. */
  private int skipped;

  private final byte[] place = new byte[RowCodec.PLACE_BYTES];
  private final RowBuffer newestKey = new RowBuffer(128);
  private Bytes userKey = Bytes.EMPTY;
  private final RowBuffer olderRow = new RowBuffer(128);
  private Bytes olderKey = Bytes.EMPTY;

  /** Where the last exact look-up found its version. */
  private Head foundIn = Head.OLDER;

  /** First position of the walk: the newest version of its first key may be before it. */
  private final Bytes from;

  /**
   * Takes ownership of the cursors.
   *
   * @param newest over LATEST, without the row of the revision; opened before {@code older}
   * @param older over KEY
   */
  private VersionCursor(Cursor newest, Cursor older, Bytes from) {
    this.newest = newest;
    this.older = older;
    this.from = from;
  }

  /**
   * Opens a walk.
   *
   * @param from first position
   * @param toExclusive first position after the walk, between the rows of two keys; null for none
   */
  static VersionCursor open(StoreView store, Bytes from, @Nullable Bytes toExclusive) {
    return join(
        store.cursor(Space.LATEST, firstKey(from), end(toExclusive), false),
        () -> store.cursor(Space.KEY, from, toExclusive, false),
        from);
  }

  /** The same for a walk over very many rows. */
  static VersionCursor openLong(StoreView store, Bytes from, @Nullable Bytes toExclusive) {
    return join(
        store.longCursor(Space.LATEST, firstKey(from), end(toExclusive)),
        () -> store.longCursor(Space.KEY, from, toExclusive),
        from);
  }

  /** The same with the changes that the writer has not written yet. */
  static VersionCursor open(EntryRows rows, Bytes from, @Nullable Bytes toExclusive) {
    return join(
        rows.cursor(Space.LATEST, firstKey(from), end(toExclusive)),
        () -> rows.cursor(Space.KEY, from, toExclusive),
        from);
  }

  private static VersionCursor join(Cursor newest, Supplier<Cursor> openOlder, Bytes from) {
    @Nullable VersionCursor joined = null;
    try {
      joined = new VersionCursor(newest, openOlder.get(), from);
      return joined;
    } finally {
      if (joined == null) {
        newest.close();
      }
    }
  }

  /** No user key is empty, and the row of the revision is not a version. */
  private static Bytes firstKey(Bytes from) {
    Bytes key = StoreKeys.firstKeyFrom(from);
    return key.isEmpty() ? StoreKeys.LATEST_REVISION.successor() : key;
  }

  private static @Nullable Bytes end(@Nullable Bytes toExclusive) {
    return toExclusive == null ? null : StoreKeys.firstKeyFrom(toExclusive);
  }

  @Override
  public boolean next() {
    if (!started) {
      started = true;
      onOlder = nextOlder();
      onNewest = toVersion(newest.next(), from);
      return settle();
    }
    if (unmoved != null) {
      moveOther();
    }
    if (head == Head.NEWEST) {
      onNewest = nextNewest();
    } else {
      onOlder = nextOlder();
    }
    return settle();
  }

  /** Moves the cursor that a look-up left alone behind the current row. */
  private void moveOther() {
    if (unmoved == Head.OLDER) {
      onOlder = seekOlderThanNewest();
    } else {
      onNewest = toVersion(newest.seek(firstKey(olderKey)), olderKey);
      if (onNewest && compareRow(olderKey) == 0) {
        onNewest = nextNewest();
      }
    }
    unmoved = null;
  }

  @Override
  public boolean seek(Bytes position) {
    started = true;
    unmoved = null;
    onOlder = seekOlder(position);
    onNewest = toVersion(newest.seek(firstKey(position)), position);
    return settle();
  }

  /**
   * Moves to this row. Faster than {@link #seek}: looks where the last version was found first.
   *
   * @param key its user key
   * @return false if it does not exist; the walk is then at no row until the next seek
   */
  boolean seekExactly(Bytes key, Bytes wanted) {
    started = true;
    if (findIn(foundIn, key, wanted)) {
      return true;
    }
    foundIn = foundIn == Head.OLDER ? Head.NEWEST : Head.OLDER;
    return findIn(foundIn, key, wanted);
  }

  /**
   * Moves to the newest version of a key that is not above a revision.
   *
   * @return false if there is none; the walk is then at no row until the next seek
   */
  boolean seekNewestAt(Bytes key, long main) {
    started = true;
    Bytes position = StoreKeys.newestAt(key, main);
    head = Head.NEWEST;
    unmoved = Head.OLDER;
    onNewest = isNewest(key);
    if (onNewest && compareRow(position) >= 0) {
      return true;
    }
    head = Head.OLDER;
    unmoved = Head.NEWEST;
    onOlder = seekOlder(position);
    return onOlder && StoreKeys.userKey(olderKey).equals(key);
  }

  /**
   * After a look-up: moves to the next row of KEY, where all older versions of the key are.
   *
   * @return false at the end of KEY; the row may be of another key
   */
  boolean nextInHistory() {
    if (head == Head.OLDER) {
      onOlder = nextOlder();
    } else {
      onOlder = seekOlderThanNewest();
      head = Head.OLDER;
    }
    unmoved = Head.NEWEST;
    return onOlder;
  }

  private boolean seekOlderThanNewest() {
    boolean found = seekOlder(Bytes.wrap(row, 0, rowLength));
    return (found && compareRow(olderKey) == 0) ? nextOlder() : found;
  }

  private boolean findIn(Head where, Bytes key, Bytes wanted) {
    head = where;
    if (where == Head.OLDER) {
      onOlder = seekOlder(wanted);
      unmoved = Head.NEWEST;
      return onOlder && olderKey.equals(wanted);
    }
    onNewest = isNewest(key);
    unmoved = Head.OLDER;
    return onNewest && compareRow(wanted) == 0;
  }

  /** Moves to the newest version of a key, if it is in LATEST alone. */
  private boolean isNewest(Bytes key) {
    return newest.seek(key) && isVersion() && userKey.equals(key);
  }

  private boolean nextOlder() {
    boolean found = older.next();
    olderKey = found ? olderRow.key(older) : Bytes.EMPTY;
    return found;
  }

  private boolean nextNewest() {
    return toVersion(newest.next(), Bytes.EMPTY);
  }

  private boolean seekOlder(Bytes position) {
    boolean found = older.seek(position);
    olderKey = found ? olderRow.key(older) : Bytes.EMPTY;
    return found;
  }

  /** Moves from a row of LATEST, if there is one, to the first version at or after a position. */
  private boolean toVersion(boolean onRow, Bytes position) {
    boolean found = onRow;
    while (found && !(isVersion() && compareRow(position) >= 0)) {
      found = newest.next();
    }
    return found;
  }

  /**
   * Reads the row of LATEST that the cursor is at. Without a place, KEY has its version: a program
   * that stored the newest versions twice wrote it.
   */
  private boolean isVersion() {
    int length = Math.min(newest.valueTo(place), place.length);
    RowCodec.Place found = RowCodec.place(Bytes.wrap(place, 0, length));
    if (found == null) {
      return false;
    }
    skipped = found.bytes();
    userKey = newestKey.key(newest);
    int bytes = StoreKeys.rowBytes(userKey);
    if (row.length < bytes) {
      row = new byte[bytes];
    }
    rowLength = StoreKeys.writeRow(row, userKey, found.main(), found.sub());
    return true;
  }

  private int compareRow(Bytes other) {
    return Arrays.compareUnsigned(
        row,
        0,
        rowLength,
        other.backingArray(),
        other.backingOffset(),
        other.backingOffset() + other.length());
  }

  /** Chooses the smaller head. A version that is in both counts once. */
  private boolean settle() {
    if (!onNewest) {
      head = Head.OLDER;
      return onOlder;
    }
    int order = onOlder ? compareRow(olderKey) : -1;
    if (order == 0) {
      onOlder = nextOlder();
    }
    head = order <= 0 ? Head.NEWEST : Head.OLDER;
    return true;
  }

  @Override
  public Bytes key() {
    return Bytes.wrap(head == Head.OLDER ? olderKey.toArray() : Arrays.copyOf(row, rowLength));
  }

  @Override
  public Bytes value() {
    return head == Head.OLDER ? older.value() : newest.value().slice(skipped);
  }

  @Override
  public Bytes valueHead(int maxBytes) {
    return head == Head.OLDER
        ? older.valueHead(maxBytes)
        : newest.valueHead(skipped + maxBytes).slice(skipped);
  }

  @Override
  public int keyTo(byte[] target) {
    byte[] from = head == Head.OLDER ? olderKey.backingArray() : row;
    int length = head == Head.OLDER ? olderKey.length() : rowLength;
    System.arraycopy(from, 0, target, 0, Math.min(length, target.length));
    return length;
  }

  @Override
  public int valueTo(byte[] target) {
    if (head == Head.OLDER) {
      return older.valueTo(target);
    }
    int whole = newest.valueTo(target);
    int length = whole - skipped;
    if (whole > target.length && length <= target.length) {
      value().copyTo(target, 0);
    } else {
      int copied = Math.min(whole, target.length);
      System.arraycopy(target, skipped, target, 0, Math.max(0, copied - skipped));
    }
    return length;
  }

  @Override
  public void close() {
    try (newest) {
      older.close();
    }
  }
}
