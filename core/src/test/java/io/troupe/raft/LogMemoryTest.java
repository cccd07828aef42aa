package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.THREE;
import static io.troupe.raft.RaftFixture.TWO;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which applied entries stay in memory. */
class LogMemoryTest {
  private static final int ENTRY_BYTES = 200 - RaftLog.ENTRY_OVERHEAD_BYTES;

  /** A hundred entries of 200 bytes; those that all members store do not fit. */
  private static final RaftSettings SETTINGS =
      new RaftSettings(10, 2, 4, 100_000, 100, 100_000, 1000, 20_000, 30);

  private static final int COUNT = 20;

  private static RaftFixture member(int voters) {
    return member(voters, SETTINGS);
  }

  private static RaftFixture member(int voters, RaftSettings settings) {
    RaftFixture member =
        new RaftFixture(
            new RaftState(
                ONE,
                new HardState(3, NodeId.NONE, 0),
                RaftFixture.voters(voters),
                0,
                0,
                List.of(),
                0),
            settings);
    member.effects.take();
    return member;
  }

  private static Entry entry(long index) {
    return new Entry(3, index, Entry.Kind.OPERATION, Bytes.wrap(new byte[ENTRY_BYTES]));
  }

  private static void propose(RaftFixture leader, int count) {
    for (int i = 0; i < count; i++) {
      leader.core.propose(
          List.of(new Proposal(RaftFixture.id("p" + i), Bytes.wrap(new byte[ENTRY_BYTES]))));
      leader.durable();
    }
  }

  /** The state machine applies what it receives until it has everything that is committed. */
  private static void applyAll(RaftFixture member) {
    do {
      member.core.applied(member.core.applyQueue.lastSent());
    } while (member.core.status().applied() < member.core.status().commit());
  }

  private static long heldBytes(RaftFixture member) {
    return member.core.log.bytesInMemory();
  }

  @Test
  void followerFreesAppliedEntries() {
    RaftFixture follower = member(3);
    for (int i = 1; i <= COUNT; i++) {
      follower.append(3, i - 1, i == 1 ? 0 : 3, i, entry(i));
      follower.durable();
    }
    assertThat(heldBytes(follower)).as("not applied yet").isEqualTo(COUNT * 200L);
    applyAll(follower);
    assertThat(heldBytes(follower)).isZero();
    assertThat(follower.core.log.lastIndex()).isEqualTo(COUNT);
    assertThat(follower.core.log.firstInMemory()).isGreaterThan(COUNT - 2);
  }

  @Test
  void lonelyLeaderFreesAppliedEntries() {
    RaftFixture leader = member(1).ticks(2 * SETTINGS.electionTicks());
    leader.durable();
    propose(leader, COUNT);
    applyAll(leader);
    assertThat(leader.core.status().commit()).isGreaterThan(COUNT - 1L);
    assertThat(heldBytes(leader)).isZero();
  }

  /** Puts of 256 bytes: 100 clients on two cores finish over a thousand between collections. */
  @Test
  void keptEntriesAreFewerThanThePutsBetweenTwoCollections() {
    RaftSettings settings = RaftSettings.defaults();
    RaftFixture follower = member(3, settings);
    int count = 8192;
    for (int i = 1; i <= count; i++) {
      Entry put = new Entry(3, i, Entry.Kind.OPERATION, Bytes.wrap(new byte[320]));
      follower.append(3, i - 1, i == 1 ? 0 : 3, i, put);
    }
    follower.durable();
    applyAll(follower);
    assertThat(follower.core.status().applied()).isEqualTo(count);
    long kept = count + 1 - follower.core.log.firstInMemory();
    assertThat(kept).isBetween(100L, 500L);
  }

  @Test
  void leaderKeepsWhatOneFollowerDoesNotStoreYet() {
    RaftFixture leader = member(3).leadAndCommit();
    propose(leader, COUNT);
    long last = leader.core.status().lastIndex();
    leader.ack(TWO, last);
    applyAll(leader);
    assertThat(leader.core.status().commit()).isEqualTo(last);
    assertThat(leader.core.log.firstInMemory()).as("member 3 stores nothing").isEqualTo(1);
    leader.ack(THREE, last - 10);
    applyAll(leader);
    assertThat(leader.core.log.firstInMemory()).isEqualTo(last - 9);
    leader.ack(THREE, last);
    applyAll(leader);
    assertThat(leader.core.log.firstInMemory()).isGreaterThan(last - 2);
  }

  @Test
  void newLeaderReadsFromTheDiskWhatAFollowerLacks() {
    RaftFixture member = member(3);
    for (int i = 1; i <= COUNT; i++) {
      member.append(3, i - 1, i == 1 ? 0 : 3, i, entry(i));
      member.durable();
    }
    applyAll(member);
    member.leadAndCommit();
    member.core.receive(THREE, new PeerMessage.AppendReply(4, true, COUNT, 5, 3));
    assertThat(member.effects.take(RecordingEffects.ReadLog.class))
        .containsExactly(new RecordingEffects.ReadLog(THREE, 6, 10, 100_000));
  }
}
