package io.troupe.raft;

import static io.troupe.raft.RaftFixture.SETTINGS;
import static io.troupe.raft.RaftFixture.THREE;
import static io.troupe.raft.RaftFixture.TWO;
import static io.troupe.raft.RaftFixture.proposals;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Entries that arrive while a reply is pending share a message, but never wait for long. */
class RaftSharedMessagesTest {
  /** A leader whose first operation is in flight to both followers and acknowledged by none. */
  private static RaftFixture leader() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.ack(THREE, 1);
    one.core.propose(proposals("a"));
    one.durable();
    one.effects.take();
    return one;
  }

  private static List<Integer> entriesSentTo(RaftFixture one) {
    return one.sentTo(THREE).stream()
        .map(message -> ((PeerMessage.Append) message).entries().size())
        .toList();
  }

  @Test
  void delayedEntriesShareNextMessage() {
    RaftFixture one = leader();
    assertThat(one.core.hasDelayedAppends()).as("nothing waits").isFalse();
    one.core.propose(proposals("b"));
    one.core.propose(proposals("c"));
    assertThat(one.effects.take(RecordingEffects.Send.class)).isEmpty();
    assertThat(one.core.hasDelayedAppends()).isTrue();
    one.ack(THREE, 2);
    assertThat(entriesSentTo(one)).containsExactly(2);
    assertThat(one.core.hasDelayedAppends()).as("for member 2").isTrue();
  }

  @Test
  void delayedEntriesAreFlushedWithoutReply() {
    RaftFixture one = leader();
    one.core.propose(proposals("b"));
    one.core.propose(proposals("c"));
    one.core.flushDelayedAppends();
    assertThat(entriesSentTo(one)).containsExactly(2);
    assertThat(one.core.hasDelayedAppends()).isFalse();
    one.core.flushDelayedAppends();
    assertThat(one.effects.take(RecordingEffects.Send.class)).as("nothing twice").isEmpty();
  }

  @Test
  void unresponsiveFollowerGetsAtMostItsWindow() {
    RaftFixture one = leader();
    int sent = 1;
    for (int i = 0; i < 5; i++) {
      one.core.propose(proposals("p" + i));
      one.core.flushDelayedAppends();
      sent += entriesSentTo(one).size();
    }
    assertThat(sent).isEqualTo(SETTINGS.maxInflightAppends());
    assertThat(one.core.hasDelayedAppends()).as("nothing that may go").isFalse();
  }

  @Test
  void onlyLeaderDelaysAppends() {
    RaftFixture one = RaftFixture.withLog(1);
    one.core.receive(TWO, new PeerMessage.Heartbeat(1, 0, 0));
    one.core.propose(proposals("a"));
    one.effects.take();
    assertThat(one.core.hasDelayedAppends()).isFalse();
    one.core.flushDelayedAppends();
    assertThat(one.effects.take()).isEmpty();
  }
}
