package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import org.jspecify.annotations.Nullable;

/**
 * A forward cursor over a store and, above it, changes that are not written yet. The changes must
 * not be modified while the cursor is used.
 */
final class MergedCursor implements OrderedStore.Cursor {
  /** Value of a pending change that removes its key. Compared by identity. */
  static final Bytes REMOVED = Bytes.of(0xde, 0x1e);

  private final OrderedStore.Cursor below;
  private final NavigableMap<Bytes, Bytes> pending;
  private Iterator<Map.Entry<Bytes, Bytes>> above;
  private boolean started;
  private boolean belowStands;
  private Map.@Nullable Entry<Bytes, Bytes> aboveStands;
  private boolean onPending;

  /**
   * Takes ownership of the cursor.
   *
   * @param below closed with this one
   * @param pending the changes within the same bounds, one at least
   */
  MergedCursor(OrderedStore.Cursor below, NavigableMap<Bytes, Bytes> pending) {
    this.below = below;
    this.pending = pending;
    this.above = pending.entrySet().iterator();
  }

  @Override
  public boolean next() {
    if (!started) {
      started = true;
      belowStands = below.next();
      stepAbove();
    } else {
      step();
    }
    return settle();
  }

  @Override
  public boolean seek(Bytes key) {
    started = true;
    belowStands = below.seek(key);
    above = from(key).entrySet().iterator();
    stepAbove();
    return settle();
  }

  /** A key outside of the bounds of the changes is legal. */
  private NavigableMap<Bytes, Bytes> from(Bytes key) {
    if (key.compareTo(pending.firstKey()) <= 0) {
      return pending;
    }
    return key.compareTo(pending.lastKey()) > 0
        ? Collections.emptyNavigableMap()
        : pending.tailMap(key, true);
  }

  @Override
  public Bytes key() {
    Map.Entry<Bytes, Bytes> top = aboveStands;
    return onPending && top != null ? top.getKey() : below.key();
  }

  @Override
  public Bytes value() {
    Map.Entry<Bytes, Bytes> top = aboveStands;
    return onPending && top != null ? top.getValue() : below.value();
  }

  @Override
  public void close() {
    below.close();
  }

  private void step() {
    if (onPending) {
      stepAbove();
    } else {
      belowStands = below.next();
    }
  }

  private void stepAbove() {
    aboveStands = above.hasNext() ? above.next() : null;
  }

  /** Chooses the smaller head; a pending change hides a stored row and may remove it. */
  private boolean settle() {
    while (true) {
      Map.Entry<Bytes, Bytes> top = aboveStands;
      if (top == null) {
        onPending = false;
        return belowStands;
      }
      int order = belowStands ? below.key().compareTo(top.getKey()) : 1;
      if (order < 0) {
        onPending = false;
        return true;
      }
      if (order == 0) {
        belowStands = below.next();
      }
      if (isRemoval(top.getValue())) {
        stepAbove();
      } else {
        onPending = true;
        return true;
      }
    }
  }

  @SuppressWarnings("ReferenceEquality") // a stored value may have the same bytes
  private static boolean isRemoval(Bytes value) {
    return value == REMOVED;
  }
}
