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
 * Renewals that wait until it is certain that this member leads (docs/decisions/0041): one question
 * serves all that came before it. It is always answered, and the next one waits for that, so an
 * answer is never taken for another's. Of the lease actor's thread.
 */
final class RenewalBatcher {
  private final ActorRef<RaftCommand> raft;
  private final ActorRef<ReadReply> confirmations;

  /** Came since the round in progress began; they take the next one. */
  private List<KeepAlive> waiting = new ArrayList<>();

  /** Of the round in progress, if there is one. */
  private List<KeepAlive> confirming = List.of();

  private long confirmingTerm;
  private boolean open;

  /**
   * Rounds of one room.
   *
   * @param confirmations gets the answers, to be handed to {@link #confirmed}
   */
  RenewalBatcher(ActorRef<RaftCommand> raft, ActorRef<ReadReply> confirmations) {
    this.raft = raft;
    this.confirmations = confirmations;
  }

  /** One more, for a leader of this term. */
  void add(KeepAlive renewal, long term) {
    waiting.add(renewal);
    open(term);
  }

  /** Asks for those that wait, unless a question is in progress. */
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
   * @return whom a leader that was confirmed in this term may renew; the others are told
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

  /** The leadership has ended: whoever waits is told. */
  void abandon() {
    fail(waiting);
    waiting.clear();
    fail(confirming);
    confirming = List.of();
  }

  /** Tells that another leads. */
  static void fail(List<KeepAlive> renewals) {
    LeaseReply lost = new LeaseReply.Failed(Refusal.LEADER_CHANGED);
    renewals.forEach(renewal -> renewal.replyTo().tell(lost));
  }
}
