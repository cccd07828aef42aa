package io.troupe.lease;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Requests that wait until a quorum confirms that this member leads (docs/decisions/0041). One
 * confirmation round serves all requests that arrived before it. Each round gets a reply, and the
 * next round starts only after it, so a reply always belongs to the round in progress. One thread.
 *
 * @param <R> identifies the caller of a request
 */
final class ConfirmationRounds<R> {
  /** Requests that arrived before the replies with this number (docs/decisions/0275). */
  private record Numbered<R>(long number, List<LeaseRequest<R>> requests) {}

  private final LeaseEffects<R> effects;
  private final NodeId supporter;

  /** Requests that arrived after the last number was given; newer than those with a number. */
  private List<LeaseRequest<R>> waiting = new ArrayList<>();

  private final ArrayDeque<Numbered<R>> numbered = new ArrayDeque<>();

  /** Requests of the round in progress, if there is one. */
  private List<LeaseRequest<R>> confirming = List.of();

  private long confirmingTerm;
  private boolean open;
  private long lastNumber;

  /**
   * Starts without requests.
   *
   * @param supporter a follower whose request confirms all requests that are added; NONE if there
   *     is none
   */
  ConfirmationRounds(LeaseEffects<R> effects, NodeId supporter) {
    this.effects = effects;
    this.supporter = supporter;
  }

  /** Adds a request. */
  void add(LeaseRequest<R> request) {
    waiting.add(request);
  }

  /** True if there are neither requests nor a round. */
  boolean isIdle() {
    return !open && !hasWaiting();
  }

  /** True if requests wait that are not in the round in progress. */
  boolean hasWaiting() {
    return !waiting.isEmpty() || !numbered.isEmpty();
  }

  /**
   * Number for a reply to a follower: all requests until now arrived before it. 0 if no request
   * waits.
   */
  long number() {
    if (!waiting.isEmpty()) {
      numbered.add(new Numbered<>(++lastNumber, waiting));
      waiting = new ArrayList<>();
    }
    return numbered.isEmpty() ? 0 : lastNumber;
  }

  /**
   * A follower has seen a number: its next request was sent after these requests arrived.
   *
   * @param number of this leadership; 0 for none
   * @return the requests, oldest first, which no longer wait here
   */
  List<LeaseRequest<R>> seen(long number) {
    List<LeaseRequest<R>> confirmed = new ArrayList<>(0);
    while (!numbered.isEmpty() && numbered.getFirst().number() <= number) {
      confirmed.addAll(numbered.removeFirst().requests());
    }
    return confirmed;
  }

  /** Starts a round for the waiting requests, unless one is in progress. */
  void open(long term) {
    if (open || !hasWaiting()) {
      return;
    }
    open = true;
    confirming = takeWaiting();
    confirmingTerm = term;
    effects.confirmLeadership(term, supporter);
  }

  private List<LeaseRequest<R>> takeWaiting() {
    List<LeaseRequest<R>> taken = new ArrayList<>();
    numbered.forEach(group -> taken.addAll(group.requests()));
    numbered.clear();
    taken.addAll(waiting);
    waiting = new ArrayList<>();
    return taken;
  }

  /**
   * Ends the round in progress.
   *
   * @param confirmed false if the round failed
   * @param leadsIn term in which this member leads now; 0 when it does not
   * @return requests that a leader confirmed in this term may serve; all others have failed
   */
  List<LeaseRequest<R>> confirmed(boolean confirmed, long leadsIn) {
    List<LeaseRequest<R>> round = confirming;
    open = false;
    confirming = List.of();
    if (leadsIn == confirmingTerm && confirmed) {
      return round;
    }
    fail(round);
    return List.of();
  }

  /** The leadership has ended: fails all requests. */
  void abandon() {
    fail(takeWaiting());
    fail(confirming);
    confirming = List.of();
  }

  /** Replies that the leader changed. */
  void fail(List<? extends LeaseRequest<R>> requests) {
    requests.forEach(request -> effects.failed(request.replyTo(), Refusal.LEADER_CHANGED));
  }
}
