package io.troupe.etcd.bolt;

import io.troupe.model.Bytes;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * A walk over the rows of one bucket in the order of their keys. Memory: one node of each level.
 * One thread.
 */
public final class BoltWalk {
  /** More levels than a tree of 2^64 pages has. */
  private static final int MOST_LEVELS = 64;

  private final BoltReader reader;
  private final Deque<Place> places = new ArrayDeque<>();
  private @Nullable Bytes key;

  /** Place in a node of the current path. */
  private static final class Place {
    final BoltNode node;
    int element = -1;

    Place(BoltNode node) {
      this.node = node;
    }
  }

  /** Starts before the first row. */
  BoltWalk(BoltReader reader, @Nullable BoltNode root) {
    this.reader = reader;
    if (root != null) {
      places.push(new Place(root));
    }
  }

  /**
   * Moves to the next row; false at the end.
   *
   * @throws DamagedDatabaseException if the file is damaged
   */
  public boolean next() {
    while (!places.isEmpty()) {
      Place place = places.getFirst();
      place.element++;
      if (place.element >= place.node.elements()) {
        places.pop();
      } else if (place.node.isLeaf()) {
        requireAscending(place.node.key(place.element));
        return true;
      } else {
        if (places.size() == MOST_LEVELS) {
          throw new DamagedDatabaseException("a tree has more than " + MOST_LEVELS + " levels");
        }
        places.push(new Place(reader.page(place.node.child(place.element))));
      }
    }
    return false;
  }

  /** Also detects a tree that contains one of its pages twice. */
  private void requireAscending(Bytes next) {
    if (key != null && key.compareTo(next) >= 0) {
      throw new DamagedDatabaseException("the keys of a bucket are not in order");
    }
    key = next;
  }

  boolean isBucket() {
    Place place = places.getFirst();
    return place.node.isBucket(place.element);
  }

  /** Key of the current row; stays valid. */
  public Bytes key() {
    Place place = places.getFirst();
    return place.node.key(place.element);
  }

  /** Value of the current row; stays valid. */
  public Bytes value() {
    Place place = places.getFirst();
    return place.node.value(place.element);
  }
}
