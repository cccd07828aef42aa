package io.troupe.raft;

/**
 * What a leader knows of one follower. In PROBE it sends one message and waits, because it does not
 * know where the logs agree; in REPLICATE it sends ahead, up to a window of messages.
 *
 * @source Raft dissertation 10.2.1 (pipelining)
 */
final class Progress {
  enum State {
    PROBE,
    REPLICATE
  }

  private final long[] inflight;
  private int inflightHead;
  private int inflightCount;
  private State state = State.PROBE;
  private boolean probeSent;
  private boolean recentlyActive;
  private long match;
  private long next;
  private long sentCommit;

  /**
   * A follower of which nothing is known.
   *
   * @param next first index to try, 1 or more
   * @param window messages in flight, 1 or more
   */
  Progress(long next, int window) {
    this.next = next;
    this.inflight = new long[window];
  }

  State state() {
    return state;
  }

  /** Highest index durable there. */
  long match() {
    return match;
  }

  /** Next index to send; greater than match. */
  long next() {
    return next;
  }

  /** Highest commit index that was sent in an append since the last time something was lost. */
  long sentCommit() {
    return sentCommit;
  }

  /** True if it answered since the last {@link #forgetActivity}. */
  boolean isRecentlyActive() {
    return recentlyActive;
  }

  void heard() {
    recentlyActive = true;
  }

  void forgetActivity() {
    recentlyActive = false;
  }

  /** True if nothing may be sent until an answer comes. */
  boolean isPaused() {
    return state == State.PROBE ? probeSent : inflightCount == inflight.length;
  }

  /** An append was sent. */
  void sent(int entries, long lastIndex, long commit) {
    sentCommit = Math.max(sentCommit, Math.min(commit, lastIndex));
    if (state == State.PROBE) {
      probeSent = true;
    } else if (entries > 0) {
      next = lastIndex + 1;
      inflight[(inflightHead + inflightCount) % inflight.length] = lastIndex;
      inflightCount++;
    }
  }

  /** A snapshot was announced: wait for a sign of life. */
  void announced() {
    becomeProbe();
    probeSent = true;
  }

  /**
   * The follower has everything up to {@code index}.
   *
   * @return true if that is news
   */
  boolean matched(long index) {
    while (inflightCount > 0 && inflight[inflightHead] <= index) {
      freeFirst();
    }
    boolean news = index > match;
    match = Math.max(match, index);
    next = Math.max(next, match + 1);
    if (state == State.PROBE && (news || index == next - 1)) {
      state = State.REPLICATE;
      probeSent = false;
      next = match + 1;
    }
    return news;
  }

  /**
   * The follower did not agree at {@code rejected}.
   *
   * @param retryAt highest index at which the logs may agree
   * @return false if the answer is an old one and says nothing
   */
  boolean rejected(long rejected, long retryAt) {
    if (rejected <= match || (state == State.PROBE && rejected != next - 1)) {
      return false;
    }
    becomeProbe();
    next = Math.max(match + 1, Math.min(rejected, retryAt + 1));
    return true;
  }

  /**
   * A heartbeat came back: whatever was sent before may have been lost, so let one more message go.
   */
  void resume() {
    probeSent = false;
    if (inflightCount == inflight.length) {
      freeFirst();
    }
  }

  private void becomeProbe() {
    state = State.PROBE;
    probeSent = false;
    inflightCount = 0;
    next = match + 1;
    sentCommit = 0;
  }

  private void freeFirst() {
    inflightHead = (inflightHead + 1) % inflight.length;
    inflightCount--;
  }
}
