package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import org.jspecify.annotations.Nullable;

/**
 * Reads of an ordered map that is divided into spaces. Any number of threads read concurrently.
 *
 * <p>A failed read throws {@link StoreException}.
 */
public interface StoreView extends AutoCloseable {
  /** The value at {@code key}, or null. */
  @Nullable Bytes get(Space space, Bytes key);

  /**
   * Opens a cursor over a view of the space that is frozen when this call returns. It is positioned
   * before the first record.
   *
   * @param from first key, inclusive
   * @param toExclusive first key after the range, or null for no upper end
   * @param reverse walk from the greatest key down
   */
  Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive, boolean reverse);

  /**
   * Opens a forward cursor, as {@link #cursor}, for a walk over very many rows. Rows that it reads
   * do not displace those that other reads need.
   *
   * @param from first key, inclusive
   * @param toExclusive first key after the range, or null for no upper end
   */
  default Cursor longCursor(Space space, Bytes from, @Nullable Bytes toExclusive) {
    return cursor(space, from, toExclusive, false);
  }

  /** Releases the view. Its cursors are closed before. */
  @Override
  void close();
}
