package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.raft.PeerMessage;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What peers, and those who can reach their port, make a member hold is bounded. */
class PeerMemoryTest {
  private static final long CLUSTER = 80;
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId TWO = new NodeId(2);

  /** 1 MiB for frames, 3 MiB for messages of several frames, 2 MiB for those that wait. */
  private static final Config CONFIG =
      ConfigFactory.parseString(PeerMemory.CONFIGURED + " = 6 MiB");

  private static final int MEBIBYTE = 1 << 20;
  private static final int CONNECTIONS = 40;
  private static final int FRAME_BYTES = 200_000;
  private static final int MESSAGE_BYTES = 100_000;

  private final int portOne = FreePort.next();
  private final int portTwo = FreePort.next();
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private TestPeer peer(long id, int port) {
    PeerDirectory both = TestPeer.members(TestPeer.url(portOne), TestPeer.url(portTwo));
    TestPeer peer = new TestPeer(CLUSTER, id, port, both, CONFIG);
    open.add(peer);
    return peer;
  }

  private static PeerMemory memory(TestPeer peer) {
    return PeerMemory.of(peer.system);
  }

  /** Without the last byte. */
  private void sendIncompleteFrame() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), portTwo);
    open.add(socket);
    OutputStream out = socket.getOutputStream();
    try {
      out.write(ArteryFrames.preface(ArteryFrames.ORDINARY));
      out.write(
          ByteBuffer.allocate(4 + FRAME_BYTES - 1)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putInt(FRAME_BYTES)
              .array());
    } catch (SocketException ended) {
      assertThat(ended).hasMessageMatching("(?i).*(reset|broken pipe).*");
    }
  }

  @Test
  void incompleteFramesOfAllConnectionsAreBounded() throws Exception {
    TestPeer one = peer(1, portOne);
    TestPeer two = peer(2, portTwo);
    one.untilItFlows(TWO, two, 1);
    for (int i = 0; i < CONNECTIONS; i++) {
      sendIncompleteFrame();
      one.untilItFlows(TWO, two, 2 + i);
    }
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(memory(two).frames().taken())
                    .isBetween(2L * FRAME_BYTES, (long) MEBIBYTE));
    two.untilItFlows(ONE, one, 1);
  }

  private static PeerMessage append(int index) {
    return new PeerMessage.Append(
        1,
        index,
        0,
        List.of(new Entry(1, index + 1, Entry.Kind.OPERATION, Bytes.wrap(new byte[MESSAGE_BYTES]))),
        0);
  }

  /** 300 long messages are far fewer than Artery's queue takes. */
  @Test
  void messagesForPeerThatTakesNothingAreBounded() throws Exception {
    TestPeer one = peer(1, portOne);
    for (int i = 0; i < 300; i++) {
      one.peers.send(TWO, append(i));
    }
    assertThat(memory(one).outbound().taken()).isBetween(19L * MESSAGE_BYTES, 2L * MEBIBYTE);
    TestPeer two = peer(2, portTwo);
    one.untilItFlows(TWO, two, 1);
    Awaitility.await()
        .atMost(Duration.ofSeconds(10))
        .until(() -> memory(one).outbound().taken() == 0);
    PeerMessage again = append(1000);
    one.peers.send(TWO, again);
    PeerMessage got = two.next(10_000);
    while (got != null && !got.equals(again)) {
      got = two.next(10_000);
    }
    assertThat(got).isEqualTo(again);
  }
}
