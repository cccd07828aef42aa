package io.troupe.lease;

import io.troupe.model.Refusal;
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
  private final LeaseEffects<R> effects;

  /** Requests that arrived after the round in progress began; the next round serves them. */
  private List<LeaseRequest<R>> waiting = new ArrayList<>();

  /** Requests of the round in progress, if there is one. */
  private List<LeaseRequest<R>> confirming = List.of();

  private long confirmingTerm;
  private boolean open;

  ConfirmationRounds(LeaseEffects<R> effects) {
    this.effects = effects;
  }

  /** Adds a request, for a leader of this term. */
  void add(LeaseRequest<R> request, long term) {
    waiting.add(request);
    open(term);
  }

  /** Starts a round for the waiting requests, unless one is in progress. */
  void open(long term) {
    if (open || waiting.isEmpty()) {
      return;
    }
    open = true;
    confirming = waiting;
    confirmingTerm = term;
    waiting = new ArrayList<>();
    effects.confirmLeadership(term);
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
    fail(waiting);
    waiting.clear();
    fail(confirming);
    confirming = List.of();
  }

  /** Replies that the leader changed. */
  void fail(List<? extends LeaseRequest<R>> requests) {
    requests.forEach(request -> effects.failed(request.replyTo(), Refusal.LEADER_CHANGED));
  }
}
