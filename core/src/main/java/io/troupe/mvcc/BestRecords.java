package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The first records of a walk in some order, without their values: memory and copying grow with
 * their number alone, not with the length of the walk. Records that are equal in the order stay in
 * the order of the walk.
 */
final class BestRecords {
  private record Candidate(KeyValue record, Bytes place, long number) {}

  private final int size;
  private final Comparator<Candidate> order;
  private final PriorityQueue<Candidate> worstFirst;
  private long seen;

  /**
   * Keeps the first {@code size} records.
   *
   * @param size 1 or more
   */
  BestRecords(int size, Comparator<KeyValue> comparator) {
    this.size = size;
    this.order =
        Comparator.comparing(Candidate::record, comparator).thenComparingLong(Candidate::number);
    this.worstFirst = new PriorityQueue<>(Math.min(size, 64), order.reversed());
  }

  /** Adds the current record of a walk, without its value. */
  void add(KeyValue record, RecordWalk walk) {
    Candidate candidate = new Candidate(record, Bytes.EMPTY, seen++);
    if (worstFirst.size() == size) {
      if (order.compare(candidate, worstFirst.peek()) >= 0) {
        return;
      }
      worstFirst.poll();
    }
    worstFirst.add(new Candidate(record, walk.place(), candidate.number()));
  }

  /** Positions of the kept records in the walk, in order. */
  List<Bytes> places() {
    return inOrder().stream().map(Candidate::place).toList();
  }

  private List<Candidate> inOrder() {
    List<Candidate> all = new ArrayList<>(worstFirst);
    all.sort(order);
    return all;
  }
}
