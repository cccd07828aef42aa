package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.TWO;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A state machine that is slower than the log: limited batches, and a leader that waits. */
class ApplyLagTest {
  private static final int LOG_BYTES = 2000;
  private static final int ENTRY_BYTES = 200 - RaftLog.ENTRY_OVERHEAD_BYTES;

  /** Two entries and 1000 bytes per message, ten entries of 200 bytes in memory. */
  private static final RaftSettings SETTINGS =
      new RaftSettings(10, 2, 2, 1000, 100, 100_000, 100_000, LOG_BYTES, 0);

  private static RaftFixture follower(Entry... log) {
    RaftFixture follower =
        new RaftFixture(
            new RaftState(
                ONE,
                new HardState(3, NodeId.NONE, 0),
                RaftFixture.voters(3),
                0,
                0,
                List.of(log),
                0),
            SETTINGS);
    follower.effects.take();
    return follower;
  }

  private static Entry entry(long term, long index) {
    return new Entry(term, index, Entry.Kind.OPERATION, Bytes.wrap(new byte[ENTRY_BYTES]));
  }

  private static void appendOne(RaftFixture follower, long index, long commit) {
    follower.append(3, index - 1, index == 1 ? 0 : 3, commit, entry(3, index));
    follower.durable();
  }

  private static List<Long> appliedBatches(RaftFixture one) {
    List<Long> indexes = new ArrayList<>();
    one.effects
        .take(RecordingEffects.Apply.class)
        .forEach(batch -> batch.committed().forEach(entry -> indexes.add(entry.index())));
    return indexes;
  }

  @Test
  void followerAcceptsAtMostItsLogMemoryWhileNothingIsApplied() {
    RaftFixture follower = follower();
    for (int i = 1; i <= 10; i++) {
      appendOne(follower, i, i);
    }
    assertThat(follower.core.status().lastIndex()).isEqualTo(10);
    follower.effects.take();
    appendOne(follower, 11, 11);
    assertThat(follower.core.status().lastIndex()).isEqualTo(10);
    assertThat(follower.sentTo(TWO)).as("no reply: the leader's window stays full").isEmpty();
    assertThat(follower.core.status().commit()).isEqualTo(10);
    // One entry less, one more fits.
    follower.core.applied(1);
    appendOne(follower, 11, 11);
    assertThat(follower.core.status().lastIndex()).isEqualTo(11);
    assertThat(follower.core.log.bytesInMemory()).isLessThanOrEqualTo(LOG_BYTES + 200);
  }

  @Test
  void laggingFollowerStillFollowsItsLeader() {
    RaftFixture follower = follower();
    for (int i = 1; i <= 10; i++) {
      appendOne(follower, i, i);
    }
    for (int i = 0; i < 100; i++) {
      follower.core.tick();
      follower.core.receive(TWO, new PeerMessage.Heartbeat(3, 10, 0));
      appendOne(follower, 11, 11);
    }
    assertThat(follower.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
    assertThat(follower.core.status().term()).isEqualTo(3);
  }

  /**
   * The entries that fill the memory are committed on no member: only the new entries allow
   * progress.
   */
  @Test
  void replacingEntriesAreAcceptedWhenMemoryIsFull() {
    Entry[] old = new Entry[15];
    for (int i = 0; i < old.length; i++) {
      old[i] = entry(2, i + 1);
    }
    RaftFixture follower = follower(old);
    follower.core.receive(TWO, new PeerMessage.Heartbeat(3, 0, 0));
    follower.append(3, 1, 2, 1, entry(3, 2));
    follower.durable();
    assertThat(follower.core.status().lastIndex()).isEqualTo(2);
    assertThat(follower.core.log.termAt(2)).isEqualTo(3);
  }

  /** The memory is full of uncommitted entries: the next message carries the commit index. */
  @Test
  void uncommittedEntriesNeverBlockAppends() {
    RaftFixture follower = follower();
    for (int i = 1; i <= 15; i++) {
      appendOne(follower, i, 0);
    }
    assertThat(follower.core.status().lastIndex()).isEqualTo(15);
  }

  @Test
  void stateMachineGetsFewBatchesAheadAndMoreAsItApplies() {
    Entry[] log = new Entry[40];
    for (int i = 0; i < log.length; i++) {
      log[i] = entry(3, i + 1);
    }
    RaftFixture follower = follower(log);
    follower.core.receive(TWO, new PeerMessage.Committed(3, 40, 3));
    List<Long> all = appliedBatches(follower);
    assertThat(all).hasSize(16).endsWith(16L);
    follower.core.applied(1);
    assertThat(appliedBatches(follower)).as("half of a batch frees nothing").isEmpty();
    for (long index = 2; index <= 40; index += 2) {
      follower.core.applied(index);
      all.addAll(appliedBatches(follower));
      assertThat(all.size() - index).isLessThanOrEqualTo(16);
    }
    assertThat(all).hasSize(40).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void leaderRefusesRestOfBatchAboveLogMemory() {
    RaftFixture leader =
        new RaftFixture(RaftState.fresh(ONE, RaftFixture.voters(3)), SETTINGS).leadAndCommit();
    List<Proposal> batch = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      batch.add(new Proposal(RaftFixture.id("p" + i), Bytes.wrap(new byte[ENTRY_BYTES])));
    }
    leader.core.propose(batch);
    assertThat(leader.core.log.bytesInMemory()).isBetween((long) LOG_BYTES, LOG_BYTES + 200L);
    List<RecordingEffects.Reject> refused = leader.effects.take(RecordingEffects.Reject.class);
    assertThat(refused)
        .hasSize(20)
        .allMatch(reject -> reject.reason() == Refusal.TOO_MANY_REQUESTS);
  }

  @Test
  void followerSplitsLargeForwardedBatches() {
    RaftFixture follower = follower();
    follower.core.receive(TWO, new PeerMessage.Heartbeat(3, 0, 0));
    follower.effects.take();
    List<Proposal> batch = new ArrayList<>();
    for (int length : new int[] {300, 300, 300, 300, 5000, 10, 10}) {
      batch.add(new Proposal(RaftFixture.id("p" + batch.size()), Bytes.wrap(new byte[length])));
    }
    follower.core.propose(batch);
    List<PeerMessage.ForwardedProposals> sent =
        follower.sentTo(TWO).stream().map(m -> (PeerMessage.ForwardedProposals) m).toList();
    assertThat(sent).extracting(m -> m.proposals().size()).containsExactly(3, 1, 1, 2);
    assertThat(sent.stream().flatMap(m -> m.proposals().stream()).toList()).isEqualTo(batch);
    assertThat(sent).extracting(PeerMessage.ForwardedProposals::sequence).doesNotHaveDuplicates();
  }
}
