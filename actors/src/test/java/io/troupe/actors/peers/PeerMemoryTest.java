package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerChannel;
import io.troupe.raft.PeerMessage;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
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

  private static final int MEBIBYTE = 1 << 20;

  /** 4 MiB for incomplete messages, 2 MiB for those that wait for a connection. */
  private static final long MEMORY = 6 * MEBIBYTE;

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

  private PeerDirectory directory() {
    return TestPeer.members(TestPeer.url(portOne), TestPeer.url(portTwo));
  }

  private TestPeer peer(long id, int port) {
    TestPeer peer = new TestPeer(CLUSTER, id, port, directory(), TestPeer.Options.memory(MEMORY));
    open.add(peer);
    return peer;
  }

  private static PeerMemory memory(TestPeer peer) {
    return peer.network.memory();
  }

  /** Without the last byte. */
  private void sendIncompleteMessage(NodeId sender) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), portTwo);
    open.add(socket);
    OutputStream out = socket.getOutputStream();
    try {
      out.write(GenuineConnections.greeting(CLUSTER, sender, TWO, "http://x:1", PeerChannel.RAFT));
      out.write(
          ByteBuffer.allocate(5 + FRAME_BYTES - 1).putInt(FRAME_BYTES).put(Frames.MESSAGE).array());
    } catch (SocketException ended) {
      assertThat(ended).hasMessageMatching("(?i).*(reset|broken pipe).*");
    }
  }

  @Test
  void incompleteMessagesOfAllConnectionsAreBounded() throws Exception {
    TestPeer one = peer(1, portOne);
    TestPeer two = peer(2, portTwo);
    one.untilItFlows(TWO, two, 1);
    for (int i = 0; i < CONNECTIONS; i++) {
      sendIncompleteMessage(new NodeId(100 + i));
      one.untilItFlows(TWO, two, 2 + i);
    }
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(memory(two).fragments().taken())
                    .isBetween(2L * FRAME_BYTES, 4L * MEBIBYTE));
    two.untilItFlows(ONE, one, 1);
    // A member's message replaces those of processes that are no members.
    PeerMessage large = append(7, 3 * MEBIBYTE);
    one.peers.send(TWO, large);
    PeerMessage got = two.next(10_000);
    while (got != null && !got.equals(large)) {
      got = two.next(10_000);
    }
    assertThat(got).isEqualTo(large);
  }

  /** Its leader may have more memory. */
  @Test
  void singleMessageOfMemberMayBeLargerThanTheMemory() throws Exception {
    TestPeer one = new TestPeer(CLUSTER, 1, portOne, directory());
    open.add(one);
    TestPeer two = peer(2, portTwo);
    one.untilItFlows(TWO, two, 1);
    PeerMessage huge = append(7, 20 * MEBIBYTE);
    one.peers.send(TWO, huge);
    PeerMessage got = two.next(10_000);
    while (got != null && !got.equals(huge)) {
      got = two.next(10_000);
    }
    assertThat(got).isEqualTo(huge);
    assertThat(memory(two).fragments().taken()).isZero();
  }

  private static PeerMessage append(int index) {
    return append(index, MESSAGE_BYTES);
  }

  private static PeerMessage append(int index, int bytes) {
    return new PeerMessage.Append(
        1,
        index,
        0,
        List.of(new Entry(1, index + 1, Entry.Kind.OPERATION, Bytes.wrap(new byte[bytes]))),
        0);
  }

  /** 300 long messages are far fewer than the queue takes. */
  @Test
  void messagesForPeerThatTakesNothingAreBounded() throws Exception {
    TestPeer one = peer(1, portOne);
    try (ServerSocket silent = new ServerSocket(portTwo, 16, InetAddress.getLoopbackAddress())) {
      for (int i = 0; i < 300; i++) {
        one.peers.send(TWO, append(i));
      }
      assertThat(silent.isBound()).isTrue();
      assertThat(memory(one).outbound().taken()).isBetween(19L * MESSAGE_BYTES, 2L * MEBIBYTE);
    }
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
