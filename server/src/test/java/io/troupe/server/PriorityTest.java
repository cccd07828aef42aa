package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.codec.OperationCodec.ClientRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Q6: lease revocations are accepted when other proposals are refused. The fake member enables
 * this.
 */
class PriorityTest {
  private static final Bytes LARGE = Bytes.wrap(new byte[700 << 10]);

  private final FakeMember member = new FakeMember(true);

  @AfterEach
  void stop() {
    member.close();
  }

  private boolean proposed() {
    return member.raft.expectMessageClass(RaftCommand.Propose.class).proposal().isPriority();
  }

  private void put(Bytes request) {
    member.proposer.propose(Requester.ANONYMOUS, ClientRequest.PUT, request, FakeMember.call());
  }

  @Test
  void onlyLeaseRevokeHasPriority_Q6() {
    put(Bytes.of(1));
    assertThat(proposed()).isFalse();
    member.proposer.propose(new Operation.LeaseGrant(7, 60));
    assertThat(proposed()).isFalse();
    member.proposer.propose(new Operation.LeaseRevoke(7));
    assertThat(proposed()).isTrue();
  }

  /** Mailboxes may hold a mebibyte here. */
  @Test
  void priorityProposalIsAcceptedAboveLimit_Q6() {
    put(LARGE);
    assertThat(proposed()).isFalse();
    assertThatThrownBy(() -> put(LARGE))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.reason()).isEqualTo(Refusal.TOO_MANY_REQUESTS));
    member.proposer.propose(new Operation.LeaseRevoke(7));
    assertThat(proposed()).isTrue();
  }
}
