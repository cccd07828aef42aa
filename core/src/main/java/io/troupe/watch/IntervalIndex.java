package io.troupe.watch;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Values of ranges, searched by key: a treap over (start, end) in which every node stores the
 * greatest end below it. A search costs the logarithm of the number of ranges plus the size of its
 * result. Deterministic: priorities come from a counter. One thread.
 *
 * @param <T> the values
 */
final class IntervalIndex<T> {
  private static final class Node<T> {
    final Bytes start;
    // Null is the open end, which is above every key.
    final @Nullable Bytes end;
    final long priority;
    final T value;
    @Nullable Node<T> left;
    @Nullable Node<T> right;
    @Nullable Bytes maxEnd;

    Node(Bytes start, @Nullable Bytes end, T value, long priority) {
      this.start = start;
      this.end = end;
      this.value = value;
      this.priority = priority;
      this.maxEnd = end;
    }
  }

  private @Nullable Node<T> root;
  private long drawn;

  /** Adds a range that is not empty and not there yet. */
  void add(KeyRange range, T value) {
    root = insert(root, new Node<>(range.key(), range.toExclusive(), value, draw()));
  }

  /** Returns the value of a range; null if the range is not there. */
  @Nullable T get(KeyRange range) {
    Node<T> node = find(range.key(), range.toExclusive());
    return node == null ? null : node.value;
  }

  /** Removes a range; nothing happens if it is not there. */
  void remove(KeyRange range) {
    Node<T> node = find(range.key(), range.toExclusive());
    if (node != null) {
      root = without(root, node);
    }
  }

  /** Passes the value of every range that contains {@code key} to {@code each}. */
  void forEachAt(Bytes key, Consumer<? super T> each) {
    visit(root, key, each);
  }

  private void visit(@Nullable Node<T> node, Bytes key, Consumer<? super T> each) {
    if (node == null || !isAbove(node.maxEnd, key)) {
      return;
    }
    visit(node.left, key, each);
    if (node.start.compareTo(key) <= 0) {
      if (isAbove(node.end, key)) {
        each.accept(node.value);
      }
      visit(node.right, key, each);
    }
  }

  private @Nullable Node<T> find(Bytes start, @Nullable Bytes end) {
    Node<T> node = root;
    while (node != null) {
      int order = compare(start, end, node);
      if (order == 0) {
        return node;
      }
      node = order < 0 ? node.left : node.right;
    }
    return null;
  }

  private Node<T> insert(@Nullable Node<T> at, Node<T> added) {
    if (at == null) {
      return added;
    }
    if (compare(added.start, added.end, at) < 0) {
      Node<T> left = insert(at.left, added);
      at.left = left;
      return left.priority > at.priority ? rotateRight(at, left) : refreshed(at);
    }
    Node<T> right = insert(at.right, added);
    at.right = right;
    return right.priority > at.priority ? rotateLeft(at, right) : refreshed(at);
  }

  private @Nullable Node<T> without(@Nullable Node<T> at, Node<T> gone) {
    if (at == null) {
      return null;
    }
    int order = compare(gone.start, gone.end, at);
    if (order == 0) {
      return joined(at.left, at.right);
    }
    if (order < 0) {
      at.left = without(at.left, gone);
    } else {
      at.right = without(at.right, gone);
    }
    return refreshed(at);
  }

  private @Nullable Node<T> joined(@Nullable Node<T> left, @Nullable Node<T> right) {
    if (left == null) {
      return right;
    }
    if (right == null) {
      return left;
    }
    if (left.priority > right.priority) {
      left.right = joined(left.right, right);
      return refreshed(left);
    }
    right.left = joined(left, right.left);
    return refreshed(right);
  }

  private Node<T> rotateRight(Node<T> at, Node<T> left) {
    at.left = left.right;
    left.right = refreshed(at);
    return refreshed(left);
  }

  private Node<T> rotateLeft(Node<T> at, Node<T> right) {
    at.right = right.left;
    right.left = refreshed(at);
    return refreshed(right);
  }

  private Node<T> refreshed(Node<T> node) {
    Bytes max = node.end;
    max = greaterEnd(max, node.left);
    node.maxEnd = greaterEnd(max, node.right);
    return node;
  }

  private static <T> @Nullable Bytes greaterEnd(@Nullable Bytes end, @Nullable Node<T> child) {
    if (child == null || end == null) {
      return end;
    }
    Bytes other = child.maxEnd;
    return other == null || other.compareTo(end) > 0 ? other : end;
  }

  private static boolean isAbove(@Nullable Bytes end, Bytes key) {
    return end == null || end.compareTo(key) > 0;
  }

  private static <T> int compare(Bytes start, @Nullable Bytes end, Node<T> node) {
    int order = start.compareTo(node.start);
    if (order != 0) {
      return order;
    }
    Bytes other = node.end;
    if (end == null || other == null) {
      return end == null ? (other == null ? 0 : 1) : -1;
    }
    return end.compareTo(other);
  }

  /**
   * Spreads a counter over all longs, so that the shape does not depend on the order of insertion.
   */
  private long draw() {
    long z = (drawn += 0x9e3779b97f4a7c15L);
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
