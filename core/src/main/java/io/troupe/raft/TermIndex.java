package io.troupe.raft;

import io.troupe.model.Invariant;
import java.util.Arrays;

/**
 * The term of every index from the snapshot on, kept as runs of equal term: a few numbers however
 * long the log is, so that terms stay known when entries have left memory. Terms never sink along
 * the log.
 */
final class TermIndex {
  private long[] starts = new long[8];
  private long[] terms = new long[8];
  private int count;

  /** Knows one index only. */
  TermIndex(long index, long term) {
    starts[0] = index;
    terms[0] = term;
    count = 1;
  }

  /** Forgets everything, and knows one index only. */
  void restart(long index, long term) {
    starts[0] = index;
    terms[0] = term;
    count = 1;
  }

  /** The index after the last one is {@code index}, and has {@code term}. */
  void append(long index, long term) {
    long last = terms[count - 1];
    Invariant.require(term >= last, "term sinks along the log", last, term);
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

  /**
   * Term of {@code index}, which the caller knows to be between the first and the last one known.
   */
  long at(long index) {
    return terms[runOf(index)];
  }

  /** Forgets {@code index} and everything above; the lowest index known stays. */
  void truncateFrom(long index) {
    while (count > 1 && starts[count - 1] >= index) {
      count--;
    }
  }

  /** Forgets everything below {@code index}. */
  void compactTo(long index) {
    int run = runOf(index);
    System.arraycopy(starts, run, starts, 0, count - run);
    System.arraycopy(terms, run, terms, 0, count - run);
    count -= run;
    starts[0] = index;
  }

  /**
   * The highest index at or below {@code index} with a term of at most {@code term}; the lowest
   * index known if there is none.
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
