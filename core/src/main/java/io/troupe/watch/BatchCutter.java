package io.troupe.watch;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;

/** Splits the events of one response into pieces (W17). Pure. */
public final class BatchCutter {
  private BatchCutter() {}

  /**
   * A piece.
   *
   * @param from first event, inclusive
   * @param to index after its last event
   * @param fragment true for all but the last piece
   */
  public record Piece(int from, int to, boolean fragment) {}

  /**
   * Splits {@code count} events.
   *
   * @param sizes encoded size of the event at an index, in bytes
   * @param baseSize size of a response without events
   * @param limit a response stays below it, unless a single event reaches it: an event is never
   *     split
   * @return in order, without gaps; one piece if the whole stays below the limit; none without
   *     events
   */
  public static List<Piece> cut(int count, IntToLongFunction sizes, long baseSize, long limit) {
    List<Piece> pieces = new ArrayList<>(1);
    int from = 0;
    long size = baseSize;
    for (int i = 0; i < count; i++) {
      long next = sizes.applyAsLong(i);
      if (i > from && size + next >= limit) {
        pieces.add(new Piece(from, i, true));
        from = i;
        size = baseSize;
      }
      size += next;
    }
    if (count > 0) {
      pieces.add(new Piece(from, count, false));
    }
    return pieces;
  }
}
