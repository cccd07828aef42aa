package io.troupe.actors.raft;

import io.troupe.model.Refusal;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.ReplicationReply;
import io.troupe.protocol.TransferReply;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Stands where the raft actor is while the member's state is being replaced: the caller something
 * is told at once that nobody leads here, and may ask another member. What other actors and members
 * say is void.
 */
public final class UnavailableRaftBehavior {
  /** The last message: what came before it was refused, and the actor stops. */
  public enum Stop implements RaftCommand.Private {
    /** The only one. */
    INSTANCE
  }

  private UnavailableRaftBehavior() {}

  /** The behaviour. */
  public static Behavior<RaftCommand> create() {
    return Behaviors.receiveMessage(
        command -> {
          refuse(command);
          return command == Stop.INSTANCE ? Behaviors.stopped() : Behaviors.same();
        });
  }

  /** Refuses one command; what is no question is dropped. */
  static void refuse(RaftCommand command) {
    if (command instanceof RaftCommand.Propose propose) {
      propose.replyTo().tell(new ProposeReply.NotProposed(Refusal.NO_LEADER));
    } else if (command instanceof RaftCommand.ProposeConfChange propose) {
      propose.replyTo().tell(new ProposeReply.NotProposed(Refusal.NO_LEADER));
    } else if (command instanceof RaftCommand.ProposeInTerm propose) {
      propose.replyTo().tell(new ProposeReply.NotProposed(Refusal.NOT_LEADER));
    } else if (command instanceof RaftCommand.ConfirmLeadership confirm) {
      confirm.replyTo().tell(new ReadReply.Failed(Refusal.NOT_LEADER));
    } else if (command instanceof RaftCommand.ReadIndex read) {
      read.replyTo().tell(new ReadReply.Failed(Refusal.NO_LEADER));
    } else if (command instanceof RaftCommand.TransferLeadership transfer) {
      transfer.replyTo().tell(new TransferReply.Refused(Refusal.NOT_LEADER));
    } else if (command instanceof RaftCommand.HandOver handOver) {
      handOver.replyTo().tell(TransferReply.Done.INSTANCE);
    } else if (command instanceof RaftCommand.GetReplication get) {
      get.replyTo().tell(new ReplicationReply(null));
    }
  }
}
