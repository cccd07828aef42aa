package io.troupe.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
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
  private final List<NodeId> confirming = new ArrayList<>();
  private boolean soleVoter = true;
  private final NodeId supporter = new NodeId(2);
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
    public void confirmLeadership(long term, NodeId by) {
      confirmations++;
      confirming.add(by);
    }

    @Override
    public void confirmWaitingLater() {
      replies.add("later");
    }

    @Override
    public void renewed(String replyTo, long id, long ttlSeconds) {
      replies.add(replyTo + ": renewed " + id + " for " + ttlSeconds);
    }

    @Override
    public void renewedAll(String replyTo, List<Long> ttlSeconds, long number) {
      replies.add(replyTo + ": renewed for " + ttlSeconds + " number " + number);
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
    core.leadershipConfirmed(NodeId.NONE, true, 20);
    assertThat(replies).containsExactly("first: renewed 7 for 300");
    assertThat(confirmations).isEqualTo(2);
    core.leadershipConfirmed(NodeId.NONE, false, 30);
    assertThat(replies)
        .containsExactly("first: renewed 7 for 300", "second: failed LEADER_CHANGED");
  }

  private void forwarded(List<Long> ids, String caller, long seen, long nowMs) {
    core.keepAliveAll(ids, supporter, TERM, seen, caller, nowMs);
  }

  /** The raft actor then confirms the leadership with that member, usually without a round. */
  @Test
  void requestOfFollowerInSameTermSupportsConfirmation_L6() {
    leadWithFollowers();
    forwarded(List.of(ID, 99L), "follower", 0, 10);
    assertThat(replies).isEmpty();
    assertThat(confirming).containsExactly(supporter);
    core.leadershipConfirmed(supporter, true, 11);
    assertThat(replies).containsExactly("follower: renewed for [300, 0] number 0");
  }

  @Test
  void requestOfOtherTermWaitsForRoundOfAll_L6() {
    leadWithFollowers();
    core.keepAliveAll(List.of(ID), supporter, TERM - 1, 9, "late", 10);
    core.keepAliveAll(List.of(ID), supporter, 0, 0, "old", 10);
    core.keepAlive(ID, "own", 10);
    assertThat(confirming).containsExactly(NodeId.NONE);
    core.leadershipConfirmed(NodeId.NONE, true, 20);
    core.leadershipConfirmed(NodeId.NONE, true, 20);
    assertThat(confirming).containsExactly(NodeId.NONE, NodeId.NONE);
    assertThat(replies)
        .containsExactly(
            "late: renewed for [300] number 0",
            "old: renewed for [300] number 0",
            "own: renewed 7 for 300");
  }

  /** Its next request shows that it has seen the number, so it was sent after the renewal. */
  @Test
  void nextRequestOfFollowerConfirmsRenewalsOfLeader_L5() {
    leadWithFollowers();
    forwarded(List.of(ID), "first", 0, 10);
    core.keepAlive(ID, "own", 11);
    assertThat(confirming).as("no round").containsExactly(supporter);
    core.leadershipConfirmed(supporter, true, 12);
    core.keepAlive(ID, "later", 12);
    forwarded(List.of(ID), "has not seen it", 0, 12);
    core.leadershipConfirmed(supporter, true, 13);
    forwarded(List.of(ID), "second", 1, 13);
    assertThat(replies).doesNotContain("own: renewed 7 for 300");
    core.leadershipConfirmed(supporter, true, 14);
    assertThat(replies)
        .containsExactly(
            "later",
            "first: renewed for [300] number 1",
            "has not seen it: renewed for [300] number 2",
            "own: renewed 7 for 300",
            "second: renewed for [300] number 2");
    forwarded(List.of(ID), "third", 2, 15);
    core.leadershipConfirmed(supporter, true, 15);
    assertThat(replies).contains("later: renewed 7 for 300", "third: renewed for [300] number 0");
    assertThat(confirming).doesNotContain(NodeId.NONE);
  }

  @Test
  void renewalOfLeaderGetsRoundWhenFollowersSendNothing_L5() {
    leadWithFollowers();
    forwarded(List.of(ID), "follower", 0, 10);
    core.leadershipConfirmed(supporter, true, 10);
    core.keepAlive(ID, "own", 12);
    core.keepAlive(ID, "next", 13);
    assertThat(confirming).containsExactly(supporter);
    core.confirmWaiting();
    assertThat(confirming).containsExactly(supporter, NodeId.NONE);
    core.leadershipConfirmed(NodeId.NONE, true, 70);
    assertThat(replies).endsWith("own: renewed 7 for 300", "next: renewed 7 for 300");
    core.keepAlive(ID, "quiet", 80);
    assertThat(confirming).as("at once").hasSize(3);
  }

  /** Numbers of an ended leadership confirm nothing. */
  @Test
  void numberOfEarlierLeadershipIsIgnored_L5() {
    leadWithFollowers();
    forwarded(List.of(ID), "follower", 0, 10);
    core.keepAlive(ID, "own", 11);
    core.leadershipConfirmed(supporter, true, 12);
    core.demoted();
    core.promoted(List.of(new Lease(ID, 300, 0)), TERM + 1, 20);
    core.stateCaughtUp(TERM + 1);
    core.keepAlive(ID, "again", 21);
    core.keepAliveAll(List.of(ID), supporter, TERM, 99, "late", 22);
    assertThat(confirming).containsExactly(supporter, NodeId.NONE);
    assertThat(replies)
        .containsExactly(
            "later", "follower: renewed for [300] number 1", "own: failed LEADER_CHANGED");
  }

  @Test
  void requestOfFollowerIsRefusedWithoutLeadership_L6() {
    forwarded(List.of(ID), "early", 0, 10);
    leadWithFollowers();
    forwarded(List.of(ID), "waiting", 0, 10);
    core.demoted();
    assertThat(replies)
        .containsExactly("early: failed NO_LEADER", "waiting: failed LEADER_CHANGED");
    core.leadershipConfirmed(supporter, true, 20);
    assertThat(replies).hasSize(2);
  }

  /** The others must not wait for the revoke. */
  @Test
  void expiredLeaseDoesNotDelayRenewalsOfSameRequest_L5() {
    leadWithFollowers();
    core.changed(List.of(new LeaseChange.Granted(8, 1), new LeaseChange.Granted(9, 5)), 0);
    core.check(700);
    core.check(1400);
    forwarded(List.of(8L, 9L), "first", 0, 1400);
    core.leadershipConfirmed(supporter, true, 1400);
    core.changed(List.of(new LeaseChange.Revoked(8)), 1500);
    forwarded(List.of(8L, 9L), "second", 0, 1500);
    core.leadershipConfirmed(supporter, true, 1500);
    assertThat(replies)
        .containsExactly(
            "first: renewed for [-1, 5] number 0", "second: renewed for [0, 5] number 0");
  }

  @Test
  void forwardedRenewalIsConfirmedAfterItsCheckpointIsDeleted_L12() {
    leadWithCheckpointedLease();
    forwarded(List.of(ID), "first", 0, 10);
    assertThat(proposal().operation())
        .isEqualTo(
            new Operation.LeaseCheckpoint(List.of(new Operation.LeaseCheckpoint.Remaining(ID, 0))));
    forwarded(List.of(ID), "early", 0, 20);
    proposed.forEach(forget -> core.proposalEnded(forget, false));
    forwarded(List.of(ID), "kept", 0, 30);
    core.proposalEnded(proposed.get(2), true);
    forwarded(List.of(ID), "last", 0, 40);
    assertThat(replies)
        .containsExactly(
            "first: renewed for [-1] number 0",
            "early: renewed for [-1] number 0",
            "kept: renewed for [-1] number 0",
            "last: renewed for [300] number 0");
  }

  private void leadWithFollowers() {
    soleVoter = false;
    core.promoted(List.of(new Lease(ID, 300, 0)), TERM, 0);
    core.stateCaughtUp(TERM);
  }

  @Test
  void followerRefusesRenewal_L5() {
    core.keepAlive(ID, "owner", 10);
    assertThat(replies).containsExactly("owner: failed NO_LEADER");
  }
}
