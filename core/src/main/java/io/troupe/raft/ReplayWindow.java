package io.troupe.raft;

/**
 * Records the accepted numbers of one source: each is accepted at most once, in any order unless
 * {@link #WIDTH} later ones overtake it. Numbers below the window count as repetitions, because the
 * window no longer contains them.
 *
 * @source RFC 4303, 3.4.3, with the ring of words of RFC 6479
 */
final class ReplayWindow {
  /** Maximum distance between the newest number and one that is still accepted. */
  static final int WIDTH = 1024;

  // One word more than the width, so that the word in which the window ends is never partly
  // outdated.
  private static final int WORDS = WIDTH / Long.SIZE + 1;

  private final long[] seen = new long[WORDS];
  private long newest;

  /**
   * Accepts a number.
   *
   * @param sequence 1 or more
   * @return false if it was accepted before, or is {@link #WIDTH} or more below the newest one
   */
  boolean take(long sequence) {
    if (sequence <= 0 || sequence <= newest - WIDTH) {
      return false;
    }
    if (sequence > newest) {
      // Words between the newest number's and this one's contain numbers that left the window.
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
