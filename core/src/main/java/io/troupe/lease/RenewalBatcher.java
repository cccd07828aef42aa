package io.troupe.lease;

import io.troupe.model.Refusal;
import java.util.ArrayList;
import java.util.List;

/**
 * Renewals that wait until a quorum confirms that this member leads (docs/decisions/0041). One
 * confirmation round serves all renewals that arrived before it. Each round gets a reply, and the
 * next round starts only after it, so a reply always belongs to the round in progress. One thread.
 *
 * @param <R> identifies the caller of a renewal
 */
final class RenewalBatcher<R> {
  private final LeaseEffects<R> effects;

  /** Renewals that arrived after the round in progress began; the next round serves them. */
  private List<LeaseProposal.Renewal<R>> waiting = new ArrayList<>();

  /** Renewals of the round in progress, if there is one. */
  private List<LeaseProposal.Renewal<R>> confirming = List.of();

  private long confirmingTerm;
  private boolean open;

  RenewalBatcher(LeaseEffects<R> effects) {
    this.effects = effects;
  }

  /** Adds a renewal, for a leader of this term. */
  void add(LeaseProposal.Renewal<R> renewal, long term) {
    waiting.add(renewal);
    open(term);
  }

  /** Starts a round for the waiting renewals, unless one is in progress. */
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
   * @return renewals that a leader confirmed in this term may grant; all others have failed
   */
  List<LeaseProposal.Renewal<R>> confirmed(boolean confirmed, long leadsIn) {
    List<LeaseProposal.Renewal<R>> round = confirming;
    open = false;
    confirming = List.of();
    if (leadsIn == confirmingTerm && confirmed) {
      return round;
    }
    fail(round);
    return List.of();
  }

  /** The leadership has ended: fails all renewals. */
  void abandon() {
    fail(waiting);
    waiting.clear();
    fail(confirming);
    confirming = List.of();
  }

  /** Replies that the leader changed. */
  void fail(List<LeaseProposal.Renewal<R>> renewals) {
    renewals.forEach(renewal -> effects.failed(renewal.replyTo(), Refusal.LEADER_CHANGED));
  }
}
