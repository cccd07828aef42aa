package io.troupe.raft;

import io.troupe.model.Invariant;
import java.util.Arrays;

/**
 * The term of every index from the snapshot on, stored as runs of equal term: a few numbers however
 * long the log is, so that terms stay known when entries are no longer in memory. Terms never
 * decrease along the log.
 */
final class TermIndex {
  private long[] starts = new long[8];
  private long[] terms = new long[8];
  private int count;

  /** Starts with one known index. */
  TermIndex(long index, long term) {
    starts[0] = index;
    terms[0] = term;
    count = 1;
  }

  /** Removes all terms and starts again with one known index. */
  void restart(long index, long term) {
    starts[0] = index;
    terms[0] = term;
    count = 1;
  }

  /** Appends {@code index}, the one after the last index, with {@code term}. */
  void append(long index, long term) {
    long last = terms[count - 1];
    Invariant.require(term >= last, "term decreases along the log", last, term);
    if (term == last) {
      return;
    }
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, 2 * count);
      terms = Arrays.copyOf(terms, 2 * count);
    }
    starts[count] = index;
    terms[count] = term;
    count++;
  }

  /** Term of {@code index}, which must be between the first and the last known index. */
  long at(long index) {
    return terms[runOf(index)];
  }

  /** Removes {@code index} and everything above; the lowest known index stays. */
  void truncateFrom(long index) {
    while (count > 1 && starts[count - 1] >= index) {
      count--;
    }
  }

  /** Removes everything below {@code index}. */
  void compactTo(long index) {
    int run = runOf(index);
    System.arraycopy(starts, run, starts, 0, count - run);
    System.arraycopy(terms, run, terms, 0, count - run);
    count -= run;
    starts[0] = index;
  }

  /**
   * The highest index at or below {@code index} with a term of at most {@code term}; the lowest
   * known index if there is none.
   */
  long lastAtOrBelow(long index, long term) {
    int run = runOf(index);
    if (terms[run] <= term) {
      return index;
    }
    while (run > 0) {
      long end = starts[run] - 1;
      run--;
      if (terms[run] <= term) {
        return end;
      }
    }
    return starts[0];
  }

  private int runOf(long index) {
    int run = count - 1;
    // Nearly always the newest run or the one before it.
    while (run > 0 && starts[run] > index) {
      run--;
    }
    return run;
  }
}
