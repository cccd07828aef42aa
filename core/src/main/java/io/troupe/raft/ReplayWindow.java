package io.troupe.raft;

/**
 * Which numbers of one source were taken: each at most once, in any order as long as none is
 * overtaken by {@link #WIDTH} others. Numbers below the window are taken to be repetitions, because
 * nobody remembers.
 *
 * @source RFC 4303, 3.4.3, with the ring of words of RFC 6479
 */
final class ReplayWindow {
  /** How far the newest number may be ahead of one that is still taken. */
  static final int WIDTH = 1024;

  // One word more than the width, so that the word in which the window ends is never half old.
  private static final int WORDS = WIDTH / Long.SIZE + 1;

  private final long[] seen = new long[WORDS];
  private long newest;

  /**
   * Takes a number.
   *
   * @param sequence 1 or more
   * @return false if it was taken before, or lies {@link #WIDTH} or more below the newest one
   */
  boolean take(long sequence) {
    if (sequence <= 0 || sequence <= newest - WIDTH) {
      return false;
    }
    if (sequence > newest) {
      // Words between the newest number's and this one's held numbers that left the window.
      long first = Math.max(newest / Long.SIZE + 1, sequence / Long.SIZE - WORDS + 1);
      for (long word = first; word <= sequence / Long.SIZE; word++) {
        seen[(int) (word % WORDS)] = 0;
      }
      newest = sequence;
    }
    int word = (int) (sequence / Long.SIZE % WORDS);
    long bit = 1L << sequence;
    boolean fresh = (seen[word] & bit) == 0;
    seen[word] |= bit;
    return fresh;
  }
}
