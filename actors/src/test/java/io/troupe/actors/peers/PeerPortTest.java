package io.troupe.actors.peers;

import static io.troupe.actors.member.ShownMetrics.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerGreeting;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.QueryFrame.Query;
import io.troupe.protocol.codec.GreetingCodec;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.protocol.codec.QueryCodec;
import io.troupe.raft.PeerMessage;
import io.troupe.testing.FreePort;
import io.troupe.testing.LoggedLines;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Input of unknown processes on the peer port, and of processes that know the protocol. */
class PeerPortTest {
  private static final long CLUSTER = 79;
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId TWO = new NodeId(2);
  private static final NodeId THREE = new NodeId(3);
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final String THREE_URL = "http://127.0.0.1:1";

  private final int portOne = FreePort.next();
  private final int portTwo = FreePort.next();
  private final TestPeer one = new TestPeer(CLUSTER, 1, portOne, both());
  private final TestPeer two = new TestPeer(CLUSTER, 2, portTwo, both());
  private final List<Socket> sockets = new ArrayList<>();
  private int marks;

  @AfterEach
  void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    one.close();
    two.close();
  }

  private PeerDirectory both() {
    return TestPeer.members(TestPeer.url(portOne), TestPeer.url(portTwo));
  }

  private void bothWays() {
    one.untilItFlows(TWO, two, ++marks);
    two.untilItFlows(ONE, one, ++marks);
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), portTwo);
    socket.setSoTimeout((int) TIMEOUT.toMillis());
    sockets.add(socket);
    return socket;
  }

  private Socket send(byte[]... frames) throws IOException {
    Socket socket = connect();
    socket.getOutputStream().write(GenuineConnections.join(frames));
    return socket;
  }

  private static byte[] greeting(NodeId from, NodeId to, PeerChannel channel) {
    return GenuineConnections.greeting(CLUSTER, from, to, THREE_URL, channel);
  }

  private static byte[] message(NodeId from, NodeId to) {
    return GenuineConnections.frame(
        Frames.MESSAGE,
        PeerCodec.encode(
            new PeerEnvelope(
                CLUSTER, from, to, new PeerPayload.Raft(new PeerMessage.Heartbeat(1, 13, 0)))));
  }

  /** Waits until the other side ends the connection. */
  private static void ends(Socket socket) throws IOException {
    try {
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    } catch (SocketException reset) {
      assertThat(reset).hasMessageContaining("reset");
    }
  }

  private static PeerGreeting.Reply reply(Socket socket) throws IOException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    byte[] body = new byte[in.readInt()];
    assertThat(in.readByte()).isEqualTo(Frames.GREETING_REPLY);
    in.readFully(body);
    return GreetingCodec.decodeReply(Bytes.wrap(body));
  }

  private static void readToEnd(Socket socket) throws IOException {
    try {
      socket.getInputStream().readAllBytes();
    } catch (SocketException | EOFException reset) {
      assertThat(reset).hasMessageContaining("reset");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-4, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, (256 << 20) + 1})
  void lengthThatNoFrameHasEndsTheConnection(int length) throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      bothWays();
      byte[] head = ByteBuffer.allocate(5).putInt(length).put(Frames.MESSAGE).array();
      ends(send(head));
      readToEnd(send(greeting(THREE, TWO, PeerChannel.RAFT), head));
      bothWays();
      assertThat(log.with("a frame of " + length + " bytes")).hasSize(1);
    }
  }

  @Test
  void portInUseFailsTheStart() {
    assertThatThrownBy(() -> new TestPeer(CLUSTER, 3, portTwo, both()).close())
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("cannot listen on 127.0.0.1:" + portTwo);
    bothWays();
  }

  @Test
  void connectionOfUnknownProtocolIsClosedAtFirstBytes() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      for (String first : List.of("GET / HTTP/1.1\r\n", "AKKA\2....", "\0\0\0\4\7aaaa")) {
        Socket socket = connect();
        socket.getOutputStream().write(first.getBytes(StandardCharsets.US_ASCII));
        ends(socket);
      }
      bothWays();
      assertThat(log.with("connection to the peer port ended: it is no member's")).hasSize(1);
    }
  }

  @Tag("full")
  @Test
  void connectionWithoutGreetingIsClosedAfterTimeout() throws Exception {
    Socket silent = connect();
    Socket began = connect();
    began.getOutputStream().write(new byte[] {0, 0});
    long start = System.nanoTime();
    ends(silent);
    ends(began);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofSeconds(8), Duration.ofSeconds(15));
  }

  @Test
  void manyConnectionsDoNotKeepMembersOut() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      bothWays();
      for (int i = 0; i < 3 * PeerConnections.MAX; i++) {
        connect();
        if (i % 50 == 0) {
          one.untilItFlows(TWO, two, ++marks);
        }
      }
      String line = "connections to the peer port, the most idle one ends";
      Awaitility.await().untilAsserted(() -> assertThat(log.with(line)).hasSize(1));
      Awaitility.await()
          .untilAsserted(
              () -> assertThat(two.network.incoming()).isLessThanOrEqualTo(PeerConnections.MAX));
      bothWays();
      assertThat(log.with(line)).hasSize(1);
    }
  }

  @Test
  void greetingGetsReply() throws Exception {
    bothWays();
    PeerGreeting.Reply accepted = reply(send(greeting(THREE, TWO, PeerChannel.RAFT)));
    assertThat(accepted)
        .isEqualTo(PeerGreeting.Reply.accepted(1, CLUSTER, TWO).of(new EtcdVersion(3, 7, 1)));
    assertThat(reply(send(greeting(THREE, ONE, PeerChannel.RAFT))).reason())
        .isEqualTo("it is for member " + ONE + ", this is member " + TWO);
    assertThat(reply(send(greeting(TWO, TWO, PeerChannel.RAFT))).reason())
        .isEqualTo("it claims to be this member");
    assertThat(reply(send(greeting(NodeId.NONE, TWO, PeerChannel.SNAPSHOT))).reason())
        .isEqualTo("it claims to be this member");
    byte[] foreign =
        GenuineConnections.greeting(CLUSTER + 1, THREE, TWO, THREE_URL, PeerChannel.RAFT);
    assertThat(reply(send(foreign)).reason()).startsWith("it is of another cluster");
    byte[] own =
        GenuineConnections.greeting(CLUSTER, THREE, TWO, TestPeer.url(portTwo), PeerChannel.RAFT);
    assertThat(reply(send(own)).reason()).isEqualTo("it uses the peer URL of this member");
    byte[] secure =
        GenuineConnections.greeting(CLUSTER, THREE, TWO, "https://x:1", PeerChannel.RAFT);
    assertThat(reply(send(secure)).reason()).contains("use https in all peer URLs or in none");
    byte[] noUrl = GenuineConnections.greeting(CLUSTER, THREE, TWO, "", PeerChannel.RAFT);
    assertThat(reply(send(noUrl)).reason()).isEqualTo("it names no peer URL of its own");
  }

  /** A member of a later version that still speaks this one is accepted. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void versionsWithoutCommonOneAreRefused(int oldest) throws Exception {
    byte[] frame =
        GenuineConnections.frame(
            Frames.GREETING,
            GreetingCodec.encode(
                new PeerGreeting(oldest, 7, CLUSTER, THREE, TWO, THREE_URL, PeerChannel.RAFT)));
    PeerGreeting.Reply reply = reply(send(frame));
    assertThat(reply.isAccepted()).isEqualTo(oldest == 1);
    assertThat(reply.reason())
        .isEqualTo(
            oldest == 1
                ? ""
                : "this member speaks version 1 of the protocol between members, the other one 2"
                    + " to 7");
  }

  @ParameterizedTest
  @CsvSource({
    "3.5.9, RAFT, false",
    "3.9.0, SNAPSHOT, false",
    "3.6.0, RAFT, true",
    "3.8.1, SNAPSHOT, true",
    "3.5.9, QUERY, true"
  })
  void memberOfDistantVersionIsRefused_V2(String version, PeerChannel channel, boolean accepted)
      throws Exception {
    NodeId to = channel == PeerChannel.QUERY ? NodeId.NONE : TWO;
    byte[] frame =
        GenuineConnections.frame(
            Frames.GREETING,
            GreetingCodec.encode(
                new PeerGreeting(1, 1, CLUSTER, THREE, to, THREE_URL, channel)
                    .of(EtcdVersion.parse(version))));
    try (LoggedLines log = new LoggedLines()) {
      PeerGreeting.Reply reply = reply(send(frame));
      assertThat(reply.isAccepted()).isEqualTo(accepted);
      assertThat(reply.server()).isEqualTo(new EtcdVersion(3, 7, 1));
      if (!accepted) {
        String text = "incompatible version: this member serves 3.7.1, the other one " + version;
        assertThat(reply.reason()).startsWith(text);
        assertThat(log.with(text)).hasSize(1);
      }
    }
  }

  @Test
  void messagesThatContradictTheirGreetingAreDropped() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      bothWays();
      send(greeting(THREE, TWO, PeerChannel.RAFT), message(ONE, TWO), message(THREE, ONE));
      Query question =
          new Query(
              CLUSTER, ONE, 1, THREE_URL, Duration.ofSeconds(5), PeerQuery.LivenessQuery.INSTANCE);
      send(
          greeting(THREE, NodeId.NONE, PeerChannel.QUERY),
          GenuineConnections.frame(Frames.QUERY, QueryCodec.encode(question)));
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(log.with("it contradicts the greeting of its connection")).hasSize(2));
      assertThat(two.raft).noneMatch(envelope -> envelope.from().equals(THREE));
      send(greeting(THREE, TWO, PeerChannel.RAFT), message(THREE, TWO));
      Awaitility.await()
          .untilAsserted(() -> assertThat(two.raft).anyMatch(each -> each.from().equals(THREE)));
    }
  }

  @Test
  void framesOfOtherKindsEndTheConnection() throws Exception {
    bothWays();
    for (byte kind : new byte[] {0, 1, 2, 4, 6, 7, 8, -1}) {
      Socket socket =
          send(greeting(THREE, TWO, PeerChannel.RAFT), GenuineConnections.frame(kind, new byte[3]));
      assertThat(reply(socket).isAccepted()).isTrue();
      ends(socket);
    }
    bothWays();
  }

  @Test
  void unreadableMessagesAreDroppedCountedAndLoggedOnce() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      bothWays();
      byte[] rubbish = GenuineConnections.frame(Frames.MESSAGE, new byte[50]);
      send(greeting(THREE, TWO, PeerChannel.RAFT), rubbish, rubbish, message(THREE, TWO));
      send(
          greeting(THREE, NodeId.NONE, PeerChannel.QUERY),
          GenuineConnections.frame(Frames.QUERY, new byte[50]));
      Awaitility.await()
          .untilAsserted(() -> assertThat(two.raft).anyMatch(each -> each.from().equals(THREE)));
      Awaitility.await().untilAsserted(() -> assertThat(log.with("cannot be read")).hasSize(2));
      assertThat(value(two.metrics, "etcd_network_peer_received_failures_total{From=\"3\"}"))
          .isEqualTo(2);
      bothWays();
    }
  }

  @Test
  void unreadableGreetingEndsTheConnection() throws Exception {
    for (int length : new int[] {0, 4, 50, 4096}) {
      ends(send(GenuineConnections.frame(Frames.GREETING, new byte[length])));
    }
    bothWays();
  }
}
