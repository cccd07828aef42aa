package io.troupe.raft;

import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads that wait for a read index. At most one round is in flight; reads that arrive meanwhile
 * wait for the next one, because a round proves nothing about later reads.
 */
final class ReadQueue {
  /**
   * One read.
   *
   * @param origin member that requested it; NONE if the leader itself confirms its leadership
   * @param id its number there
   */
  record Read(NodeId origin, long id) {}

  private final Set<NodeId> confirmedBy = new HashSet<>();
  private List<Read> waiting = new ArrayList<>();
  private List<Read> round = List.of();
  private long context;
  private long index;

  void add(Read read) {
    waiting.add(read);
  }

  int size() {
    return waiting.size() + round.size();
  }

  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  boolean isRoundOpen() {
    return context != 0;
  }

  /** Context of the open round; 0 without one. */
  long context() {
    return context;
  }

  /** Read index of the open round. */
  long index() {
    return index;
  }

  /** All waiting reads form the next round. */
  void open(long newContext, long readIndex) {
    Invariant.require(
        context == 0 && newContext != 0, "read round opened twice", context, newContext);
    context = newContext;
    index = readIndex;
    round = waiting;
    waiting = new ArrayList<>();
    confirmedBy.clear();
  }

  void confirm(NodeId member) {
    confirmedBy.add(member);
  }

  boolean isConfirmedBy(NodeId member) {
    return confirmedBy.contains(member);
  }

  /** Closes the open round and returns its reads. */
  List<Read> close() {
    List<Read> reads = round;
    round = List.of();
    context = 0;
    return reads;
  }

  /** Closes the round and returns all reads, oldest first. */
  List<Read> drain() {
    List<Read> reads = new ArrayList<>(close());
    reads.addAll(waiting);
    waiting = new ArrayList<>();
    return reads;
  }
}
