package io.troupe.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Lease;
import io.troupe.model.Refusal;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a client may rely on when it gets the reply to a renewal. */
class LeaseCoreTest {
  private static final long TERM = 3;
  private static final long ID = 7;

  private final List<String> replies = new ArrayList<>();
  private final List<LeaseProposal<String>> proposed = new ArrayList<>();
  private int confirmations;
  private boolean soleVoter = true;
  private final LeaseCore<String> core =
      new LeaseCore<>(
          new LeaseCore.Settings(1000, 60_000),
          List.of(new Lease(ID, 300, 100), new Lease(8, 60, 0)),
          () -> soleVoter,
          new RecordedEffects());

  private final class RecordedEffects implements LeaseEffects<String> {
    @Override
    public void propose(LeaseProposal<String> proposal) {
      proposed.add(proposal);
    }

    @Override
    public void confirmLeadership(long term) {
      confirmations++;
    }

    @Override
    public void renewed(String replyTo, long id, long ttlSeconds) {
      replies.add(replyTo + ": renewed " + id + " for " + ttlSeconds);
    }

    @Override
    public void remaining(String replyTo, long id, long remainingSeconds, long grantedSeconds) {
      replies.add(replyTo + ": " + remainingSeconds + " of " + grantedSeconds);
    }

    @Override
    public void leases(String replyTo, List<Long> ids) {
      replies.add(replyTo + ": " + ids);
    }

    @Override
    public void failed(String replyTo, Refusal reason) {
      replies.add(replyTo + ": failed " + reason);
    }
  }

  /** Leads with one lease of 300 s, of which a checkpoint says that 100 s remain. */
  private void leadWithCheckpointedLease() {
    core.promoted(List.of(new Lease(ID, 300, 100)), TERM, 0);
    core.stateCaughtUp(TERM);
  }

  private LeaseProposal<String> proposal() {
    assertThat(proposed).hasSize(1);
    return proposed.get(0);
  }

  /** The leases of the state at the start count too, not only those of later entries. */
  @Test
  void memberThatDoesNotLeadListsAllLeases_L8() {
    core.listLeases("client");
    core.changed(List.of(new LeaseChange.Granted(9, 60), new LeaseChange.Revoked(8)), 10);
    core.listLeases("later");
    assertThat(replies).containsExactly("client: [7, 8]", "later: [7, 9]");
  }

  @Test
  void renewalIsConfirmedAfterItsCheckpointIsDeleted_L12() {
    leadWithCheckpointedLease();
    core.keepAlive(ID, "owner", 10);
    assertThat(replies).isEmpty();
    assertThat(proposal()).isInstanceOf(LeaseProposal.Forget.class);
    assertThat(proposal().term()).isEqualTo(TERM);
    core.changed(List.of(new LeaseChange.Checkpointed(ID, 0)), 20);
    core.proposalEnded(proposal(), true);
    assertThat(replies).containsExactly("owner: renewed 7 for 300");
    core.keepAlive(ID, "owner", 30);
    assertThat(proposed).hasSize(1);
    assertThat(replies).hasSize(2);
  }

  @Test
  void renewalFailsIfItsCheckpointMayRemain_L12() {
    leadWithCheckpointedLease();
    core.keepAlive(ID, "owner", 10);
    core.proposalEnded(proposal(), false);
    assertThat(replies).containsExactly("owner: failed LEADER_CHANGED");
  }

  @Test
  void renewalOfEndedLeadershipFailsAlthoughCheckpointIsDeleted_L12() {
    leadWithCheckpointedLease();
    core.keepAlive(ID, "owner", 10);
    core.demoted();
    core.promoted(List.of(new Lease(ID, 300, 0)), TERM + 2, 20);
    core.proposalEnded(proposal(), true);
    assertThat(replies).containsExactly("owner: failed LEADER_CHANGED");
  }

  @Test
  void renewalWaitsForConfirmationOfLeadership_L5() {
    soleVoter = false;
    core.promoted(List.of(new Lease(ID, 300, 0)), TERM, 0);
    core.stateCaughtUp(TERM);
    core.keepAlive(ID, "first", 10);
    core.keepAlive(ID, "second", 11);
    assertThat(confirmations).isEqualTo(1);
    assertThat(replies).isEmpty();
    core.leadershipConfirmed(true, 20);
    assertThat(replies).containsExactly("first: renewed 7 for 300");
    assertThat(confirmations).isEqualTo(2);
    core.leadershipConfirmed(false, 30);
    assertThat(replies)
        .containsExactly("first: renewed 7 for 300", "second: failed LEADER_CHANGED");
  }

  @Test
  void followerRefusesRenewal_L5() {
    core.keepAlive(ID, "owner", 10);
    assertThat(replies).containsExactly("owner: failed NO_LEADER");
  }
}
