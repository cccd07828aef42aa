package io.troupe.txn;

import io.troupe.model.Bytes;
import java.util.Map;
import java.util.TreeMap;

/** A set of keys given as half-open spans; overlapping spans are merged. */
final class Spans {
  private final TreeMap<Bytes, Bytes> endByStart = new TreeMap<>();

  /** Adds [start, end); adds nothing if end is not above start. */
  void add(Bytes start, Bytes end) {
    if (end.compareTo(start) <= 0) {
      return;
    }
    Bytes from = start;
    Bytes to = end;
    Map.Entry<Bytes, Bytes> before = endByStart.floorEntry(from);
    if (before != null && before.getValue().compareTo(from) >= 0) {
      from = before.getKey();
      to = max(to, before.getValue());
    }
    Map.Entry<Bytes, Bytes> next = endByStart.ceilingEntry(from);
    while (next != null && next.getKey().compareTo(to) <= 0) {
      to = max(to, next.getValue());
      endByStart.remove(next.getKey());
      next = endByStart.ceilingEntry(from);
    }
    endByStart.put(from, to);
  }

  void addAll(Spans others) {
    others.endByStart.forEach(this::add);
  }

  boolean contains(Bytes key) {
    Map.Entry<Bytes, Bytes> at = endByStart.floorEntry(key);
    return at != null && key.compareTo(at.getValue()) < 0;
  }

  private static Bytes max(Bytes one, Bytes other) {
    return one.compareTo(other) >= 0 ? one : other;
  }
}
