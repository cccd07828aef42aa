package io.troupe.actors.peers;

import static io.troupe.actors.member.ShownMetrics.value;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerFragment;
import io.troupe.protocol.PeerFrame;
import io.troupe.protocol.PeerPayload;
import io.troupe.raft.PeerMessage;
import java.time.Duration;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What cannot be read is void, and counted. */
class PeerInboxTest {
  private static final long CLUSTER = 7;
  private static final NodeId SELF = new NodeId(1);
  private static final NodeId OTHER = new NodeId(0xb);
  private static final String FAILURES = "etcd_network_peer_received_failures_total";

  private final ActorTestKit kit = ActorTestKit.create();
  private final MemberMetrics metrics = new MemberMetrics();
  private final TestProbe<PeerEnvelope> taken = kit.createTestProbe();
  private final ActorRef<PeerFrame> inbox =
      kit.spawn(
          PeerInbox.create(
              new PeerIdentity(CLUSTER, SELF, "http://x:1"),
              new PeerDirectory(),
              new PeerContacts(Duration.ofSeconds(5), Duration.ofSeconds(1), Duration.ofSeconds(3)),
              metrics.peers(),
              1 << 20,
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
}
