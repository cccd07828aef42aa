package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An immutable sorted map: setting or removing a key returns a new tree that shares most of the old
 * one. So a view costs nothing. A treap whose shape depends on its keys alone.
 */
final class FrozenTree {
  static final FrozenTree EMPTY = new FrozenTree(null);

  private record Node(
      Bytes key, Bytes value, int priority, @Nullable Node left, @Nullable Node right) {
    Node with(@Nullable Node newLeft, @Nullable Node newRight) {
      return new Node(key, value, priority, newLeft, newRight);
    }
  }

  private final @Nullable Node root;

  private FrozenTree(@Nullable Node root) {
    this.root = root;
  }

  @Nullable Bytes get(Bytes key) {
    Node node = root;
    while (node != null) {
      int order = key.compareTo(node.key);
      if (order == 0) {
        return node.value;
      }
      node = order < 0 ? node.left : node.right;
    }
    return null;
  }

  FrozenTree put(Bytes key, Bytes value) {
    return new FrozenTree(put(root, key, value));
  }

  /** Returns this tree itself if the key is not there. */
  FrozenTree remove(Bytes key) {
    return get(key) == null ? this : new FrozenTree(remove(root, key));
  }

  /** A walk over part of the tree; bounds as in {@link OrderedStore#cursor}. */
  Walk walk(Bytes from, @Nullable Bytes toExclusive, boolean reverse) {
    return new Walk(root, from, toExclusive, reverse);
  }

  private static Node put(@Nullable Node at, Bytes key, Bytes value) {
    if (at == null) {
      return new Node(key, value, priority(key), null, null);
    }
    int order = key.compareTo(at.key);
    if (order == 0) {
      return new Node(key, value, at.priority, at.left, at.right);
    }
    if (order < 0) {
      Node left = put(at.left, key, value);
      return left.priority > at.priority
          ? left.with(left.left, at.with(left.right, at.right))
          : at.with(left, at.right);
    }
    Node right = put(at.right, key, value);
    return right.priority > at.priority
        ? right.with(at.with(at.left, right.left), right.right)
        : at.with(at.left, right);
  }

  private static @Nullable Node remove(@Nullable Node at, Bytes key) {
    if (at == null) {
      return null;
    }
    int order = key.compareTo(at.key);
    if (order == 0) {
      return joined(at.left, at.right);
    }
    return order < 0
        ? at.with(remove(at.left, key), at.right)
        : at.with(at.left, remove(at.right, key));
  }

  private static @Nullable Node joined(@Nullable Node left, @Nullable Node right) {
    if (left == null || right == null) {
      return left == null ? right : left;
    }
    return left.priority > right.priority
        ? left.with(left.left, joined(left.right, right))
        : right.with(joined(left, right.left), right.right);
  }

  private static int priority(Bytes key) {
    int z = key.hashCode() * 0x9e3779b9;
    z = (z ^ (z >>> 16)) * 0x85ebca6b;
    z = (z ^ (z >>> 13)) * 0xc2b2ae35;
    return z ^ (z >>> 16);
  }

  /** Walks over a tree in ascending or descending order. */
  static final class Walk {
    private final @Nullable Node root;
    private final Bytes from;
    private final @Nullable Bytes toExclusive;
    private final boolean reverse;
    private final Deque<Node> ahead = new ArrayDeque<>();

    private Walk(@Nullable Node root, Bytes from, @Nullable Bytes toExclusive, boolean reverse) {
      this.root = root;
      this.from = from;
      this.toExclusive = toExclusive;
      this.reverse = reverse;
      toFirst();
    }

    private void toFirst() {
      if (reverse) {
        begin(toExclusive, false);
      } else {
        begin(from, true);
      }
    }

    /** Continues at or after {@code key} in walking order, within the bounds. */
    void seek(Bytes key) {
      boolean outside =
          reverse
              ? toExclusive != null && key.compareTo(toExclusive) >= 0
              : key.compareTo(from) < 0;
      if (outside) {
        toFirst();
      } else {
        begin(key, true);
      }
    }

    /** Prepares the path to the first node at (or, if not inclusive, after) {@code bound}. */
    private void begin(@Nullable Bytes bound, boolean inclusive) {
      ahead.clear();
      Node node = root;
      while (node != null) {
        int order = bound == null ? (reverse ? -1 : 1) : node.key.compareTo(bound);
        int distance = reverse ? -order : order;
        if (distance > 0 || (distance == 0 && inclusive)) {
          ahead.push(node);
          node = reverse ? node.right : node.left;
        } else {
          node = reverse ? node.left : node.right;
        }
      }
    }

    /** Moves to the next entry; null at the end. */
    Map.@Nullable Entry<Bytes, Bytes> next() {
      Node node = ahead.poll();
      if (node == null || isBehindEnd(node.key)) {
        ahead.clear();
        return null;
      }
      Node child = reverse ? node.left : node.right;
      while (child != null) {
        ahead.push(child);
        child = reverse ? child.right : child.left;
      }
      return Map.entry(node.key, node.value);
    }

    private boolean isBehindEnd(Bytes key) {
      return reverse
          ? key.compareTo(from) < 0
          : toExclusive != null && key.compareTo(toExclusive) >= 0;
    }
  }
}
