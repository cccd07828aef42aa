package io.troupe.raft;

import io.troupe.raft.ReplicationStatus.PeerState;

/**
 * What a leader knows of one follower. In PROBE it sends one message and waits, because it does not
 * know where the logs agree; in REPLICATE it sends ahead, up to a window of messages and bytes; in
 * SNAPSHOT it sends nothing until the transfer is over.
 *
 * @source Raft dissertation 10.2.1 (pipelining)
 */
final class Progress {
  /** The delay after a snapshot in vain doubles from one election timeout to 32 of them. */
  private static final int MAX_DELAY_DOUBLINGS = 5;

  private final Inflight inflight;
  private final int silentTicks;
  private PeerState state = PeerState.PROBE;
  private boolean probeSent;
  private boolean reading;
  private boolean lossSuspected;
  private boolean recentlyActive;
  private int ticksSinceHeard;
  private int connectedTicks;
  private long match;
  private long next;
  private long sentCommit;
  private long snapshotTransfer;
  private int snapshotsInVain;
  private int snapshotDelayTicks;

  /**
   * A follower of which nothing is known.
   *
   * @param next first index to try, 1 or more
   */
  Progress(long next, RaftSettings settings) {
    this.next = next;
    this.inflight = new Inflight(settings.maxInflightAppends(), settings.maxInflightBytes());
    this.silentTicks = settings.electionTicks();
    this.ticksSinceHeard = silentTicks;
  }

  PeerState state() {
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

  /** Ticks since it answers without a break of an election timeout; 0 if it does not answer. */
  int connectedTicks() {
    return connectedTicks;
  }

  void tick() {
    ticksSinceHeard++;
    snapshotDelayTicks = Math.max(0, snapshotDelayTicks - 1);
    connectedTicks = ticksSinceHeard >= silentTicks || connectedTicks == 0 ? 0 : connectedTicks + 1;
  }

  void heard() {
    recentlyActive = true;
    ticksSinceHeard = 0;
    connectedTicks = Math.max(1, connectedTicks);
  }

  void presumeActive() {
    recentlyActive = true;
  }

  void forgetActivity() {
    recentlyActive = false;
  }

  /** True if nothing may be sent until an answer comes. */
  boolean isPaused() {
    return switch (state) {
      case PROBE -> probeSent || reading;
      case REPLICATE -> inflight.isFull() || reading;
      case SNAPSHOT -> true;
    };
  }

  /** True if entries are in flight whose arrival is not known yet. */
  boolean isAwaitingAnswer() {
    return state == PeerState.REPLICATE && !inflight.isEmpty();
  }

  /** The commit index was told without an append. */
  void toldCommit(long commit) {
    sentCommit = Math.max(sentCommit, commit);
  }

  /** The next answer to a heartbeat shall find out whether something was lost. */
  void suspectLoss() {
    lossSuspected = true;
  }

  /** True once for each {@link #suspectLoss}. */
  boolean takeSuspicion() {
    boolean was = lossSuspected;
    lossSuspected = false;
    return was;
  }

  /** An append was sent. */
  void sent(int entries, long lastIndex, long bytes, long commit) {
    sentCommit = Math.max(sentCommit, Math.min(commit, lastIndex));
    if (state == PeerState.PROBE) {
      probeSent = true;
    } else if (entries > 0) {
      next = lastIndex + 1;
      inflight.add(lastIndex, bytes);
    }
  }

  /** The next entries are read from the disk. */
  void readStarted() {
    reading = true;
  }

  /**
   * What was read has come.
   *
   * @return false if it is not what is to be sent next
   */
  boolean readEnded(long from) {
    boolean expected = reading && from == next;
    reading = false;
    return expected && !isPaused();
  }

  /** A snapshot is in flight. */
  void snapshotStarted(long transfer) {
    become(PeerState.SNAPSHOT);
    snapshotTransfer = transfer;
  }

  /** True if the end of this transfer is news; it is not if it gave way to a later one. */
  boolean awaitsSnapshot(long transfer) {
    return state == PeerState.SNAPSHOT && snapshotTransfer == transfer;
  }

  /**
   * True while the next snapshot has to wait, because earlier ones brought the follower no further:
   * it refuses them, or cannot use them. Each costs both members work.
   */
  boolean isSnapshotDelayed() {
    return snapshotDelayTicks > 0;
  }

  /**
   * The transfer of a snapshot ended.
   *
   * @param index last index it covers
   * @param ok true: the follower has the content; false: try again when the delay is over
   */
  void snapshotEnded(long index, boolean ok) {
    if (state == PeerState.SNAPSHOT) {
      become(PeerState.PROBE);
      snapshotDelayTicks = silentTicks << Math.min(snapshotsInVain, MAX_DELAY_DOUBLINGS);
      snapshotsInVain++;
      if (ok) {
        next = Math.max(next, index + 1);
      } else {
        probeSent = true;
      }
    }
  }

  /**
   * The follower has everything up to {@code index}.
   *
   * @param firstIndex lowest index the leader can still send
   * @return true if that is news
   */
  boolean matched(long index, long firstIndex) {
    inflight.freeTo(index);
    boolean news = index > match;
    match = Math.max(match, index);
    next = Math.max(next, match + 1);
    boolean found = state == PeerState.PROBE && (news || index == next - 1);
    boolean noNeed = state == PeerState.SNAPSHOT && match + 1 >= firstIndex;
    if (news || found) {
      snapshotsInVain = 0;
      snapshotDelayTicks = 0;
    }
    if (found || noNeed) {
      // Nothing was lost: what it was told of the commit index it knows.
      long told = sentCommit;
      become(PeerState.REPLICATE);
      sentCommit = told;
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
    boolean old =
        rejected <= match
            || state == PeerState.SNAPSHOT
            || (state == PeerState.PROBE && rejected != next - 1);
    if (old) {
      return false;
    }
    become(PeerState.PROBE);
    next = Math.max(match + 1, Math.min(rejected, retryAt + 1));
    return true;
  }

  /** The next probe asks at {@code index}, whatever earlier answers said. */
  void probeAt(long index) {
    if (state == PeerState.PROBE) {
      next = Math.max(next, index);
    }
  }

  /**
   * A heartbeat came back: whatever was sent before may have been lost, so let one more message go.
   */
  void resume() {
    probeSent = false;
    if (inflight.isFull()) {
      inflight.freeFirst();
    }
  }

  private void become(PeerState newState) {
    state = newState;
    probeSent = false;
    inflight.clear();
    next = match + 1;
    sentCommit = 0;
  }
}
