package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.NodeId;
import io.troupe.testing.FreePort;
import io.troupe.testing.LoggedLines;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.remote.ArteryControlFormats;
import org.apache.pekko.remote.RemoteActorRefProvider;
import org.apache.pekko.remote.RemoteTransportException;
import org.apache.pekko.remote.artery.tcp.ArteryTcpTransport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What unknown peers send to the peer port, and forgers that know Artery. */
class PeerPortExtensionTest {
  private static final long CLUSTER = 79;
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId TWO = new NodeId(2);
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

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

  static int connections(TestPeer peer) {
    return PeerPortExtension.of(classic(peer)).connections().count();
  }

  private static ExtendedActorSystem classic(TestPeer peer) {
    return (ExtendedActorSystem) peer.system.classicSystem();
  }

  private static ArteryTcpTransport transport(TestPeer peer) {
    return (ArteryTcpTransport) ((RemoteActorRefProvider) classic(peer).provider()).transport();
  }

  private static Address address(TestPeer peer) {
    return transport(peer).defaultAddress();
  }

  private static ArteryControlFormats.UniqueAddress process(TestPeer peer) {
    Address address = address(peer);
    return ArteryFrames.process(
        address.getHost().orElseThrow(),
        address.getPort().orElseThrow(),
        transport(peer).localAddress().uid());
  }

  private void bothWays() {
    one.untilItFlows(TWO, two, ++marks);
    two.untilItFlows(ONE, one, ++marks);
  }

  private Socket connect(int port) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout((int) TIMEOUT.toMillis());
    sockets.add(socket);
    return socket;
  }

  private Socket send(int stream, byte[]... frames) throws IOException {
    Socket socket = connect(portTwo);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(ArteryFrames.preface(stream));
    for (byte[] frame : frames) {
      bytes.write(ArteryFrames.withLength(frame));
    }
    socket.getOutputStream().write(bytes.toByteArray());
    return socket;
  }

  /** Waits until the other side ends the connection. */
  private static void ends(Socket socket) throws IOException {
    try {
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    } catch (SocketException reset) {
      assertThat(reset).hasMessageContaining("reset");
    }
  }

  /** A negative length made Artery's reader go round for ever, also after the connection's end. */
  @ParameterizedTest
  @ValueSource(ints = {-4, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 0, 33, (256 << 10) + 1})
  void aLengthThatNoFrameHasEndsTheConnection(int length) throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      Socket socket = connect(portTwo);
      OutputStream out = socket.getOutputStream();
      out.write(ArteryFrames.preface(ArteryFrames.ORDINARY));
      out.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(length).array());
      ends(socket);
      bothWays();
      assertThat(log.with("a frame of " + length + " bytes")).hasSize(1);
      assertThat(log.with("Dropping message")).isEmpty();
    }
  }

  @Test
  void aPortThatIsTakenEndsTheStart() {
    assertThatThrownBy(() -> new TestPeer(CLUSTER, 3, portTwo, both()).close())
        .isInstanceOf(RemoteTransportException.class)
        .hasMessageContaining("127.0.0.1:" + portTwo);
    bothWays();
  }

  @Test
  void connectionOfUnknownProtocolIsClosedAtFirstBytes() throws Exception {
    for (String first : List.of("GET / HTTP/1.1\r\n", "AKKA\0....", "AKKA\4....", "PEKK\2....")) {
      Socket socket = connect(portTwo);
      socket.getOutputStream().write(first.getBytes(StandardCharsets.US_ASCII));
      ends(socket);
    }
    bothWays();
  }

  @Tag("full")
  @Test
  void idleConnectionIsClosedAfterTimeout() throws Exception {
    Socket silent = connect(portTwo);
    Socket began = connect(portTwo);
    began.getOutputStream().write(ArteryFrames.preface(ArteryFrames.CONTROL));
    Socket trickles = connect(portTwo);
    trickles.getOutputStream().write('A');
    long start = System.nanoTime();
    ends(silent);
    ends(began);
    ends(trickles);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofSeconds(8), Duration.ofSeconds(15));
  }

  @Test
  void manyConnectionsDoNotKeepMembersOut() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      bothWays();
      for (int i = 0; i < 3 * PeerConnections.MAX; i++) {
        connect(portTwo);
        if (i % 50 == 0) {
          one.untilItFlows(TWO, two, ++marks);
        }
      }
      String told = "connections to the peer port, the most silent one ends";
      // Not all of them are taken up yet.
      Awaitility.await().untilAsserted(() -> assertThat(log.with(told)).hasSize(1));
      // The newest one is in before the most silent one has ended.
      Awaitility.await()
          .untilAsserted(
              () -> assertThat(connections(two)).isLessThanOrEqualTo(PeerConnections.MAX));
      bothWays();
      assertThat(log.with(told)).hasSize(1);
    }
  }

  /**
   * Artery quarantines a process until it restarts if a message says that the process ends, and
   * accepts that message from any peer.
   */
  @Test
  void forgedEndOfMemberIsIgnored() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      bothWays();
      ArteryControlFormats.UniqueAddress victim = process(one);
      byte[] body =
          ArteryControlFormats.MessageWithAddress.newBuilder()
              .setAddress(victim)
              .build()
              .toByteArray();
      String sender = address(one) + "/system/remoteFlushOnShutdown";
      for (String from : List.of("", sender)) {
        send(
            ArteryFrames.CONTROL,
            ArteryFrames.handshake(victim, address(two)),
            ArteryFrames.frame(
                victim.getUid(), ArteryFrames.ARTERY_SERIALIZER, from, "", "b", body));
      }
      byte[] quarantined =
          ArteryControlFormats.Quarantined.newBuilder()
              .setFrom(victim)
              .setTo(process(two))
              .build()
              .toByteArray();
      send(
          ArteryFrames.CONTROL,
          ArteryFrames.frame(
              victim.getUid(), ArteryFrames.ARTERY_SERIALIZER, "", "", "a", quarantined));
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(log.with("a peer reports that it has cut this member off"))
                      .hasSize(1));
      // Artery would react after 100 ms.
      Awaitility.await()
          .pollInterval(Duration.ofMillis(50))
          .during(Duration.ofMillis(500))
          .until(
              () -> {
                bothWays();
                return true;
              });
      assertThat(log.with("Association to")).isEmpty();
    }
  }

  @Test
  void handshakesOfMadeUpAddressesAreCounted() throws Exception {
    bothWays();
    for (int i = 0; i < 300; i++) {
      Socket socket =
          send(
              i % 2 == 0 ? ArteryFrames.CONTROL : ArteryFrames.ORDINARY,
              ArteryFrames.handshake(
                  ArteryFrames.process("127.0.0.1", 1 + i, 4000 + i), address(two)));
      socket.shutdownOutput();
      ends(socket);
    }
    // Another process where member one is: believed at most as often as tokens last.
    for (int i = 0; i < 300; i++) {
      Socket socket =
          send(
              ArteryFrames.CONTROL,
              ArteryFrames.handshake(
                  ArteryFrames.process("127.0.0.1", portOne, 9000 + i), address(two)));
      socket.shutdownOutput();
      ends(socket);
    }
    assertThat(transport(two).remoteAddresses().size())
        .isLessThanOrEqualTo(HandshakeFilter.MAX_UNKNOWN_PEERS + 1);
    bothWays();
  }

  /**
   * A handshake with the receiver's own address, or with another process's number, stopped the
   * actor of all connections.
   */
  @Test
  void contradictoryHandshakeIsDropped() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      bothWays();
      long uid = process(one).getUid();
      for (ArteryControlFormats.UniqueAddress forged :
          List.of(
              ArteryFrames.process("127.0.0.1", portTwo, 5),
              ArteryFrames.process("127.0.0.1", 77, uid))) {
        send(ArteryFrames.CONTROL, ArteryFrames.handshake(forged, address(two)));
        send(ArteryFrames.ORDINARY, ArteryFrames.handshake(forged, address(two)));
      }
      Awaitility.await().untilAsserted(() -> assertThat(log.with("handshake refused")).hasSize(2));
      bothWays();
      assertThat(log.with("Inbound streams")).isEmpty();
    }
  }

  @Test
  void messagesForOtherActorsOfOtherKindsAndSerialisedObjectsEndTheConnection() throws Exception {
    bothWays();
    long uid = process(one).getUid();
    ByteArrayOutputStream object = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(object)) {
      out.writeObject(new ArrayList<>(List.of("gadget")));
    }
    String inbox = address(two) + "/user/peers";
    List<byte[]> frames =
        List.of(
            // Java serialization, and Pekko's own for text.
            ArteryFrames.frame(uid, 1, "", inbox, "java.util.ArrayList", object.toByteArray()),
            ArteryFrames.frame(uid, 20, "", inbox, "", new byte[] {65}),
            // Other actors, among them one that Artery waits a second for.
            ArteryFrames.frame(uid, 746_031, "", address(two) + "/user", "m", new byte[9]),
            ArteryFrames.frame(uid, 746_031, "", address(two) + "/remote/x", "m", new byte[9]),
            ArteryFrames.frame(
                uid, 746_031, "", address(two) + "/user/peer-quarantines", "m", new byte[9]),
            ArteryFrames.frame(
                uid, 746_031, "", address(two) + "/user/peer-snapshots", "m", new byte[9]),
            ArteryFrames.frame(uid, 746_031, "", "", "m", new byte[9]),
            ArteryFrames.frame(uid, 746_031, inbox, inbox, "m", new byte[9]),
            ArteryFrames.frame(uid, 746_031, "", inbox, "x", new byte[9]),
            ArteryFrames.frame(uid, 746_031, "", inbox, "mm", new byte[9]));
    for (byte[] frame : frames) {
      ends(send(ArteryFrames.ORDINARY, frame));
    }
    byte[] rubbish = {-1, -1, -1};
    for (String kind : List.of("d", "e")) {
      ends(send(ArteryFrames.CONTROL, ArteryFrames.frame(uid, 17, "", "", kind, rubbish)));
    }
    bothWays();
  }

  @Test
  void unreadableMessagesAreDroppedAndLoggedOnce() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      bothWays();
      long uid = process(one).getUid();
      for (String actor : List.of("/user/peers", "/user/peer-queries")) {
        byte[] frame =
            ArteryFrames.frame(uid, 746_031, "", address(two) + actor, "m", new byte[50]);
        for (int i = 0; i < 100; i++) {
          send(ArteryFrames.ORDINARY, frame).close();
        }
      }
      Awaitility.await().untilAsserted(() -> assertThat(log.with("cannot be read")).hasSize(2));
      bothWays();
      assertThat(log.with("Failed to deserialize")).isEmpty();
    }
  }

  /**
   * Artery creates the connection flow again after a failure; the frame filter must be before the
   * new one.
   */
  @Test
  void recreatedConnectionFlowIsFiltered() throws Exception {
    Field way = ArteryTcpTransport.class.getDeclaredField("inboundConnectionFlow");
    way.setAccessible(true);
    Field first = ArteryTcpTransport.class.getDeclaredField("firstConnectionFlow");
    first.setAccessible(true);
    Object open = ((scala.concurrent.Promise<?>) first.get(transport(two))).future();
    way.set(transport(two), open);
    Socket socket = connect(portTwo);
    socket.getOutputStream().write(ArteryFrames.preface(9));
    ends(socket);
    bothWays();
  }
}
