package io.troupe.actors.lease;

import io.troupe.model.Refusal;
import io.troupe.protocol.LeaseCommand.KeepAlive;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * Renewals that wait until a quorum confirms that this member leads (docs/decisions/0041). One
 * confirmation round serves all renewals that arrived before it. Each round gets a reply, and the
 * next round starts only after it, so a reply always belongs to the round in progress. Used only on
 * the lease actor's thread.
 */
final class RenewalBatcher {
  private final ActorRef<RaftCommand> raft;
  private final ActorRef<ReadReply> confirmations;

  /** Renewals that arrived after the round in progress began; the next round serves them. */
  private List<KeepAlive> waiting = new ArrayList<>();

  /** Renewals of the round in progress, if there is one. */
  private List<KeepAlive> confirming = List.of();

  private long confirmingTerm;
  private boolean open;

  /**
   * Rounds of one lease actor.
   *
   * @param confirmations receives the replies, which the actor passes to {@link #confirmed}
   */
  RenewalBatcher(ActorRef<RaftCommand> raft, ActorRef<ReadReply> confirmations) {
    this.raft = raft;
    this.confirmations = confirmations;
  }

  /** Adds a renewal, for a leader of this term. */
  void add(KeepAlive renewal, long term) {
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
    raft.tell(new RaftCommand.ConfirmLeadership(term, confirmations));
  }

  /**
   * Ends the round in progress.
   *
   * @param leadsIn term in which this member leads now; 0 when it does not
   * @return renewals that a leader confirmed in this term may grant; all others have failed
   */
  List<KeepAlive> confirmed(ReadReply reply, long leadsIn) {
    List<KeepAlive> round = confirming;
    open = false;
    confirming = List.of();
    if (leadsIn == confirmingTerm && reply instanceof ReadReply.Ready) {
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
  static void fail(List<KeepAlive> renewals) {
    LeaseReply lost = new LeaseReply.Failed(Refusal.LEADER_CHANGED);
    renewals.forEach(renewal -> renewal.replyTo().tell(lost));
  }
}
