package io.troupe.raft;

import io.troupe.raft.ReplicationStatus.PeerState;

/**
 * A leader's knowledge of one follower. In PROBE it sends one message and waits, because it does
 * not know where the logs agree; in REPLICATE it sends ahead, up to a window of messages and bytes;
 * in SNAPSHOT it sends nothing until the transfer is finished.
 *
 * @source Raft dissertation 10.2.1 (pipelining)
 */
final class Progress {
  /** The delay after an unsuccessful snapshot doubles from one election timeout to 32 of them. */
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
   * Starts without knowledge of the follower.
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

  /** Highest index durable on the follower. */
  long match() {
    return match;
  }

  /** Next index to send; greater than the match index. */
  long next() {
    return next;
  }

  /** Highest commit index that was sent since the last loss. */
  long sentCommit() {
    return sentCommit;
  }

  /** True if the follower replied since the last {@link #forgetActivity}. */
  boolean isRecentlyActive() {
    return recentlyActive;
  }

  /**
   * Ticks since the follower replies without a gap of an election timeout; 0 if it does not reply.
   */
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

  /** True if nothing may be sent before a reply arrives. */
  boolean isPaused() {
    return switch (state) {
      case PROBE -> probeSent || reading;
      case REPLICATE -> inflight.isFull() || reading;
      case SNAPSHOT -> true;
    };
  }

  /** True if entries are in flight that are not acknowledged yet. */
  boolean isAwaitingReply() {
    return state == PeerState.REPLICATE && !inflight.isEmpty();
  }

  /** The commit index was sent without an append. */
  void commitIndexSent(long commit) {
    sentCommit = Math.max(sentCommit, commit);
  }

  /** The next heartbeat reply must check for lost messages. */
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

  /** A disk read of the next entries started. */
  void readStarted() {
    reading = true;
  }

  /**
   * A disk read finished.
   *
   * @return false if its entries are not the next ones to send
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

  /** True if this is the current transfer; false if a later one replaced it. */
  boolean awaitsSnapshot(long transfer) {
    return state == PeerState.SNAPSHOT && snapshotTransfer == transfer;
  }

  /**
   * True while the next snapshot is delayed, because earlier ones made no progress: the follower
   * refuses them, or cannot use them. Each snapshot costs both members work.
   */
  boolean isSnapshotDelayed() {
    return snapshotDelayTicks > 0;
  }

  /**
   * The transfer of a snapshot finished.
   *
   * @param index last index it covers
   * @param ok true: the follower has the content; false: retry after the delay
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
   * @return true if the match index increased
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
      // Nothing was lost: the follower knows the commit index that was sent.
      long known = sentCommit;
      become(PeerState.REPLICATE);
      sentCommit = known;
    }
    return news;
  }

  /**
   * The follower's log did not agree at {@code rejected}.
   *
   * @param retryAt highest index at which the logs may agree
   * @return false if the reply is outdated
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

  /** The next probe checks {@code index}, regardless of earlier replies. */
  void probeAt(long index) {
    if (state == PeerState.PROBE) {
      next = Math.max(next, index);
    }
  }

  /** A heartbeat reply arrived: earlier messages may be lost, so one more message is allowed. */
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
