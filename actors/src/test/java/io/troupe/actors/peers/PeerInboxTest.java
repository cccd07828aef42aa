package io.troupe.actors.peers;

import static io.troupe.actors.member.ShownMetrics.value;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerFragment;
import io.troupe.protocol.PeerFrame;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.raft.PeerMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Unreadable messages are dropped and counted. */
class PeerInboxTest {
  private static final long CLUSTER = 7;
  private static final NodeId SELF = new NodeId(1);
  private static final NodeId OTHER = new NodeId(0xb);

  /** For incomplete messages. */
  private static final int MEMORY = 1000;

  private static final String FAILURES = "etcd_network_peer_received_failures_total";

  private final ActorTestKit kit = ActorTestKit.create();
  private final MemberMetrics metrics = new MemberMetrics();
  private final TestProbe<PeerEnvelope> taken = kit.createTestProbe();
  private final PeerMemory memory = new PeerMemory(2 * MEMORY);
  private final PeerDirectory directory = new PeerDirectory();
  private final ActorRef<PeerFrame> inbox =
      kit.spawn(
          PeerInbox.create(
              new PeerIdentity(CLUSTER, SELF, "http://x:1"),
              directory,
              new PeerLiveness(Duration.ofSeconds(5), Duration.ofSeconds(1), Duration.ofSeconds(3)),
              metrics.peers(),
              1 << 20,
              memory.fragments(),
              () -> {},
              taken.getRef()::tell));

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  @Test
  void messagesThatCannotBeReadAreCountedBySender() {
    inbox.tell(new Unreadable("rubbish"));
    inbox.tell(new PeerFragment(CLUSTER, OTHER, SELF, 1, 2, 0, Bytes.of(1, 2)));
    PeerEnvelope whole =
        new PeerEnvelope(
            CLUSTER,
            OTHER,
            SELF,
            "http://y:1",
            new PeerPayload.Raft(new PeerMessage.Heartbeat(1, 0, 0)));
    inbox.tell(whole);
    taken.expectMessage(whole);
    assertThat(value(metrics, FAILURES + "{From=\"unknown\"}")).isEqualTo(1);
    assertThat(value(metrics, FAILURES + "{From=\"b\"}")).isEqualTo(1);
  }

  private PeerEnvelope append(NodeId from, int bytes) {
    return new PeerEnvelope(
        CLUSTER,
        from,
        SELF,
        "http://y:1",
        new PeerPayload.Raft(
            new PeerMessage.Append(
                1,
                0,
                0,
                List.of(new Entry(1, 1, Entry.Kind.OPERATION, Bytes.wrap(new byte[bytes]))),
                0)));
  }

  private List<PeerFragment> pieces(NodeId from, long number, int bytes) {
    PeerEnvelope envelope = append(from, bytes);
    return PeerCodec.cut(envelope, PeerCodec.encode(envelope), number, 100);
  }

  private void send(List<PeerFragment> pieces) {
    pieces.forEach(inbox::tell);
  }

  private static <T> List<T> allButLast(List<T> all) {
    return all.subList(0, all.size() - 1);
  }

  @Test
  void incompleteMessagesOfAllSendersShareTheMemory() {
    for (int sender = 0; sender < 40; sender++) {
      send(allButLast(pieces(new NodeId(100 + sender), 1, 400)));
    }
    PeerEnvelope last = append(OTHER, 0);
    inbox.tell(last);
    taken.expectMessage(last);
    assertThat(memory.fragments().taken()).isBetween(1L, (long) MEMORY);
  }

  @Test
  void membersPassUnknownSenders() {
    directory.replace(Map.of(OTHER, List.of("http://y:1")), Set.of());
    for (int sender = 0; sender < 40; sender++) {
      send(allButLast(pieces(new NodeId(100 + sender), 1, 400)));
    }
    send(pieces(OTHER, 1, 800));
    taken.expectMessage(append(OTHER, 800));
  }

  /** Its leader may have more memory. */
  @Test
  void singleMessageOfMemberMayBeLargerThanTheMemory() {
    directory.replace(Map.of(OTHER, List.of("http://y:1")), Set.of());
    send(pieces(OTHER, 1, 20 * MEMORY));
    taken.expectMessage(append(OTHER, 20 * MEMORY));
    send(pieces(new NodeId(5), 1, 20 * MEMORY));
    send(pieces(OTHER, 2, 10));
    taken.expectMessage(append(OTHER, 10));
    taken.expectNoMessage(Duration.ofMillis(50));
    assertThat(memory.fragments().taken()).isZero();
  }

  @Test
  void memoryIsGivenBackWhenTheInboxStops() {
    send(allButLast(pieces(OTHER, 1, 400)));
    taken.awaitAssert(
        () -> {
          assertThat(memory.fragments().taken()).isPositive();
          return null;
        });
    kit.stop(inbox);
    assertThat(memory.fragments().taken()).isZero();
  }
}
