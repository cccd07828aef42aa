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
 * Replaces the raft actor while the files of the member are opened. A client request gets the reply
 * that there is no leader, so that the client can use another member. Messages of other actors and
 * members are ignored. {@link io.troupe.raft.RaftLoop} gives the same replies while a snapshot is
 * installed.
 */
public final class UnavailableRaftBehavior {
  private UnavailableRaftBehavior() {}

  /** The behavior of the actor. */
  public static Behavior<RaftCommand> create() {
    return Behaviors.receiveMessage(
        command -> {
          refuse(command);
          return Behaviors.same();
        });
  }

  /** Refuses one command. A command without a reply is dropped. */
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
