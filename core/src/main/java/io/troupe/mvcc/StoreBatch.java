package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes that are written together or not at all, in order: the last change of a key applies. Not
 * thread-safe.
 */
public final class StoreBatch {
  /**
   * One change.
   *
   * @param value the new value, or null to delete
   */
  public record Change(OrderedStore.Space space, Bytes key, @Nullable Bytes value) {}

  private final List<Change> changes = new ArrayList<>();

  /** Sets {@code key}. */
  public void put(OrderedStore.Space space, Bytes key, Bytes value) {
    changes.add(new Change(space, key, value));
  }

  /** Removes {@code key} if it is there. */
  public void delete(OrderedStore.Space space, Bytes key) {
    changes.add(new Change(space, key, null));
  }

  /** The changes so far, oldest first; a live view. */
  public List<Change> changes() {
    return changes;
  }

  /** True if no change was added. */
  public boolean isEmpty() {
    return changes.isEmpty();
  }
}
