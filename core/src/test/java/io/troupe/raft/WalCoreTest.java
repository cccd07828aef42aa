package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WalCoreTest {
  private final List<String> effects = new ArrayList<>();
  private final WalCore core =
      new WalCore(
          new WalEffects() {
            @Override
            public void write(HardState state, List<Entry> entries) {
              effects.add("write term=" + state.term() + " commit=" + state.commit());
            }

            @Override
            public void restartAfter(long index) {
              effects.add("restart after " + index);
            }

            @Override
            public void sync() {
              effects.add("sync");
            }

            @Override
            public void flushLater() {
              effects.add("flush later");
            }

            @Override
            public void durable(long number) {
              effects.add("durable " + number);
            }

            @Override
            public void send(Outgoing message) {
              effects.add("send to " + message.to());
            }

            @Override
            public void installed() {
              effects.add("installed");
            }
          });

  private static HardState state(long term, long commit) {
    return new HardState(term, NodeId.NONE, commit);
  }

  private static List<Outgoing> reply(long to) {
    return List.of(new Outgoing(new NodeId(to), new PeerMessage.VoteReply(1, true, false)));
  }

  @Test
  void oneForcedWriteServesAllWaitingAppends() {
    core.append(1, state(1, 0), List.of(), reply(2));
    core.append(2, state(1, 1), List.of(), reply(3));
    core.flush();
    core.flush();
    assertThat(effects)
        .containsExactly(
            "write term=1 commit=0",
            "flush later",
            "write term=1 commit=1",
            "sync",
            "send to 2",
            "send to 3",
            "durable 2");
  }

  @Test
  void installationCompletesEarlierAppendsThenReplacesLogStepByStep() {
    core.append(1, state(1, 0), List.of(), List.of());
    core.install(state(2, 0), state(2, 9), 9);
    core.flush();
    assertThat(effects)
        .containsExactly(
            "write term=1 commit=0",
            "flush later",
            "sync",
            "durable 1",
            "write term=2 commit=0",
            "restart after 9",
            "write term=2 commit=9",
            "sync",
            "installed");
  }
}
