package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.raft.PeerMessage;
import io.troupe.testing.FreePort;
import io.troupe.testing.LoggedLines;
import java.net.InetAddress;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** TLS between members in one process, over the loopback. */
class TlsPeersTest {
  private static final long CLUSTER = 78;
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId TWO = new NodeId(2);
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final int portOne = FreePort.next();
  private final int portTwo = FreePort.next();
  private final int portThree = FreePort.next();
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  private PeerDirectory both() {
    return TestPeer.members(TestPeer.tlsUrl(portOne), TestPeer.tlsUrl(portTwo));
  }

  private TestPeer peer(long id, int port, String certificate) {
    return peer(id, port, new TestTls(certificate));
  }

  private TestPeer peer(long id, int port, PeerTls engines) {
    TestPeer peer = new TestPeer(CLUSTER, id, port, both(), TestPeer.Options.tls(engines));
    open.add(peer);
    return peer;
  }

  private static PeerMessage heartbeat(long number) {
    return new PeerMessage.Heartbeat(1, number, 0);
  }

  private static void sendFor(TestPeer from, NodeId to, long ms) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .during(Duration.ofMillis(ms))
        .atMost(Duration.ofMillis(ms).plus(TIMEOUT))
        .until(
            () -> {
              from.peers.send(to, heartbeat(7));
              return true;
            });
  }

  @Test
  void shortAndLargeMessagesArriveInBothDirections() throws Exception {
    TestPeer one = peer(1, portOne, "members");
    TestPeer two = peer(2, portTwo, "members");
    one.untilItFlows(TWO, two, 1);
    two.untilItFlows(ONE, one, 1);
    byte[] data = new byte[20 << 20];
    new Random(3).nextBytes(data);
    PeerMessage huge =
        new PeerMessage.Append(
            1, 0, 0, List.of(new Entry(1, 1, Entry.Kind.OPERATION, Bytes.wrap(data))), 0);
    one.peers.send(TWO, huge);
    PeerMessage got = two.next(TIMEOUT.toMillis());
    while (heartbeat(1).equals(got)) {
      got = two.next(TIMEOUT.toMillis());
    }
    assertThat(got).isEqualTo(huge);
  }

  /** A blocked sender would wait until the link breaks, after 3 s without a pong. */
  @Test
  void senderDoesNotWaitForPeerThatReadsNothing() {
    TestPeer one = peer(1, portOne, "members");
    TestPeer two = peer(2, portTwo, "members");
    one.untilItFlows(TWO, two, 1);
    assertThat(one.slowestSendTo(two, TWO)).isLessThan(Duration.ofSeconds(1));
    one.untilItFlows(TWO, two, 2);
  }

  @Tag("full")
  @Test
  void aPeerThatRestartsIsHeardAtOnceAndAnOutageEndsWithinASecond() {
    try (LoggedLines log = new LoggedLines()) {
      TestPeer one = peer(1, portOne, "members");
      TestPeer two = peer(2, portTwo, "members");
      one.untilItFlows(TWO, two, 1);
      two.untilItFlows(ONE, one, 1);
      two.close();
      sendFor(one, TWO, 7000);
      TestPeer again = peer(2, portTwo, "members");
      assertThat(one.untilItFlows(TWO, again, 2)).isLessThan(1500);
      assertThat(again.untilItFlows(ONE, one, 2)).isLessThan(1500);
    }
  }

  /** It may know everything else of the cluster. */
  @Test
  void memberWithCertificateOfAnotherAuthorityIsRejected() {
    try (LoggedLines log = new LoggedLines()) {
      TestPeer one = peer(1, portOne, "members");
      TestPeer two = peer(2, portTwo, "members");
      one.untilItFlows(TWO, two, 1);
      TestPeer unknown = peer(3, FreePort.next(), TestTls.UNKNOWN);
      for (int i = 0; i < 5; i++) {
        sendFor(unknown, TWO, 1000);
        assertThat(one.untilItFlows(TWO, two, 10 + i)).isLessThan(1000);
      }
      assertThat(two.raft).noneMatch(envelope -> envelope.from().equals(new NodeId(3)));
      assertThat(log.with("rejected connection on peer endpoint"))
          .as("a line of each member, not one for each attempt")
          .hasSizeBetween(1, 2);
      assertThat(two.network.incoming()).isLessThan(10);
    }
  }

  /** The refused side learns of it from the alert alone: with TLS 1.3 its own handshake is over. */
  @Test
  void bothSidesLogWhyAConnectionIsRefused() {
    try (LoggedLines log = new LoggedLines()) {
      TestPeer one = peer(1, portOne, "members");
      TestPeer two = peer(2, portTwo, new TestTls("members", TestTls.UNKNOWN));
      Awaitility.await()
          .pollInterval(Duration.ofMillis(20))
          .atMost(TIMEOUT)
          .untilAsserted(
              () -> {
                one.peers.send(TWO, heartbeat(7));
                assertThat(log.with("TLS connection to another member failed"))
                    .anySatisfy(
                        line -> assertThat(line).contains(":" + portTwo, "Received fatal alert"));
              });
      assertThat(two.raft).isEmpty();
      assertThat(log.with("rejected connection on peer endpoint remote-addr=127.0.0.1:"))
          .singleElement()
          .asString()
          .contains(" error=\"");
    }
  }

  /** Whatever it sends after its handshake: a reset of the connection would hide the alert. */
  @Test
  void refusedMemberReadsTheAlertHoweverLateItSpeaks() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      peer(2, portTwo, new TestTls("members", TestTls.UNKNOWN));
      try (SSLSocket late =
          (SSLSocket)
              new TestTls("members")
                  .sockets()
                  .createSocket(InetAddress.getLoopbackAddress(), portTwo)) {
        late.startHandshake();
        Awaitility.await()
            .atMost(TIMEOUT)
            .until(() -> !log.with("rejected connection on peer endpoint").isEmpty());
        for (int i = 0; i < 3; i++) {
          late.getOutputStream().write(new byte[100]);
        }
        assertThatExceptionOfType(SSLException.class)
            .isThrownBy(() -> late.getInputStream().read())
            .withMessageContaining("Received fatal alert");
      }
    }
  }

  @Test
  void memberWithCertificateForAnotherAddressIsIgnored_TL2() {
    try (LoggedLines log = new LoggedLines()) {
      TestTls enginesOfTwo = new TestTls("members");
      enginesOfTwo.checks(
          CompletableFuture.failedFuture(new CertificateException("not from there")));
      TestPeer one = peer(1, portOne, "members");
      TestPeer two = peer(2, portTwo, enginesOfTwo);
      sendFor(one, TWO, 3000);
      assertThat(two.raft).isEmpty();
      assertThat(log.with("rejected connection on peer endpoint remote-addr=127.0.0.1:"))
          .as("once, not for each attempt")
          .singleElement()
          .asString()
          .endsWith(" error=\"not from there\"");
      assertThat(two.network.incoming()).isLessThan(10);
      enginesOfTwo.checks(CompletableFuture.completedFuture(null));
      assertThat(one.untilItFlows(TWO, two, 2)).isLessThan(3000);
      assertThat(two.untilItFlows(ONE, one, 2)).isLessThan(1000);
    }
  }

  /** No message is lost meanwhile, and no other peer waits. */
  @Test
  void messagesWaitUntilAddressOfMemberIsChecked_TL2() throws Exception {
    TestTls enginesOfTwo = new TestTls("members");
    CompletableFuture<Void> slow = new CompletableFuture<>();
    enginesOfTwo.checks(slow);
    TestPeer one = peer(1, portOne, "members");
    TestPeer two = peer(2, portTwo, enginesOfTwo);
    sendFor(one, TWO, 1000);
    assertThat(two.raft).isEmpty();
    assertThat(two.network.incoming()).isPositive();
    slow.complete(null);
    assertThat(two.next(TIMEOUT.toMillis())).as("the first that was sent").isNotNull();
    assertThat(one.untilItFlows(TWO, two, 2)).isLessThan(1000);
  }

  @Tag("full")
  @Test
  void hangingAddressCheckTimesOutWithHandshake_TL2() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      TestTls enginesOfTwo = new TestTls("members");
      enginesOfTwo.checks(new CompletableFuture<>());
      peer(2, portTwo, enginesOfTwo);
      long start = System.nanoTime();
      try (Socket socket =
          new TestTls("members")
              .sockets()
              .createSocket(InetAddress.getLoopbackAddress(), portTwo)) {
        socket.getOutputStream().write(0);
        assertThat(socket.getInputStream().readAllBytes()).as("pongs only").isNotEmpty();
      }
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(Duration.ofSeconds(8), Duration.ofSeconds(15));
      assertThat(log.with("no greeting came for 10 s")).hasSize(1);
    }
  }

  @Test
  void connectionsWithoutTlsAreRejected() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      TestPeer one = peer(1, portOne, "members");
      TestPeer two = peer(2, portTwo, "members");
      for (int i = 0; i < 50; i++) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), portTwo)) {
          socket
              .getOutputStream()
              .write("GET /\0\0\0\0".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        }
      }
      one.untilItFlows(TWO, two, 1);
      Awaitility.await()
          .untilAsserted(
              () -> assertThat(log.with("rejected connection on peer endpoint")).hasSize(1));
    }
  }

  @Tag("full")
  @Test
  void membersWithAndWithoutTlsLogTheMismatch() {
    try (LoggedLines log = new LoggedLines()) {
      TestPeer one = peer(1, portOne, "members");
      PeerDirectory plain = new PeerDirectory();
      plain.replace(
          Map.of(ONE, List.of(TestPeer.url(portOne)), TWO, List.of(TestPeer.url(portTwo))),
          Set.of());
      TestPeer two = new TestPeer(CLUSTER, 2, portTwo, plain);
      open.add(two);
      sendFor(two, ONE, 2000);
      sendFor(one, TWO, 2000);
      assertThat(log.with("rejected connection on peer endpoint")).hasSize(1);
      assertThat(log.with("rejected TLS connection on plaintext peer port")).hasSize(1);
      assertThat(one.raft).isEmpty();
      assertThat(two.raft).isEmpty();
    }
  }

  @Test
  void aUrlWithTheOtherSchemeIsNotTried() {
    try (LoggedLines log = new LoggedLines()) {
      TestPeer one = peer(1, portOne, "members");
      one.directory.replace(
          Map.of(ONE, List.of(TestPeer.tlsUrl(portOne)), TWO, List.of(TestPeer.url(portTwo))),
          Set.of());
      for (int i = 0; i < 100; i++) {
        one.peers.send(TWO, heartbeat(1));
      }
      assertThat(log.with("members cannot communicate, one speaks TLS and the other does not"))
          .hasSize(1);
    }
  }

  /** That new connections use the new ones: SecurePeersTest. */
  @Test
  void openConnectionsContinueWhenCertificatesAreReplaced() {
    TestTls engines = new TestTls("members");
    TestPeer one = peer(1, portOne, engines);
    TestPeer two = peer(2, portTwo, "members");
    one.untilItFlows(TWO, two, 1);
    two.untilItFlows(ONE, one, 1);
    engines.replace("next");
    for (int i = 2; i < 30; i++) {
      assertThat(one.untilItFlows(TWO, two, i)).isLessThan(1000);
      assertThat(two.untilItFlows(ONE, one, i)).isLessThan(1000);
    }
  }

  /** Also without a process at the other end, and each time with the same ports. */
  @Tag("full")
  @Test
  void networkEndsAtOnce() {
    for (int i = 0; i < 6; i++) {
      TestPeer one = peer(1, portOne, "members");
      TestPeer two = peer(2, portTwo, "members");
      one.untilItFlows(TWO, two, 1);
      two.untilItFlows(ONE, one, 1);
      two.close();
      for (int sent = 0; sent < i; sent++) {
        one.peers.send(TWO, heartbeat(1));
      }
      TestPeer again = peer(2, portTwo, "members");
      one.untilItFlows(TWO, again, 2);
      again.close();
      one.close();
    }
  }

  /** A third member is elsewhere, as far as is known to the one that is asked. */
  private PeerDirectory thirdElsewhere() {
    return TestPeer.members(
        TestPeer.tlsUrl(portOne), TestPeer.tlsUrl(portTwo), "https://127.0.0.3:" + portThree);
  }

  private TestPeer asked(TestTls engines) {
    TestPeer one =
        new TestPeer(CLUSTER, 1, portOne, thirdElsewhere(), TestPeer.Options.tls(engines));
    open.add(one);
    return one;
  }

  private TestPeer pretender() {
    TestPeer pretender =
        new TestPeer(
            CLUSTER,
            3,
            portThree,
            TestPeer.members(
                TestPeer.tlsUrl(portOne), TestPeer.tlsUrl(portTwo), TestPeer.tlsUrl(portThree)),
            TestPeer.Options.tls(new TestTls("members")));
    open.add(pretender);
    return pretender;
  }

  /** As in etcd: any certificate that is let in. */
  @Test
  void withoutBindingCertificateSpeaksForEveryMember() {
    TestPeer one = asked(new TestTls("members"));
    pretender().untilItFlows(ONE, one, 1);
  }

  @Test
  void certificateSpeaksForItsOwnMemberAlone() throws Exception {
    try (LoggedLines log = new LoggedLines()) {
      TestPeer one = asked(new TestTls("members").binding("127.0.0.1"));
      TestPeer two = peer(2, portTwo, "members");
      TestPeer pretender = pretender();
      two.untilItFlows(ONE, one, 1);
      one.untilItFlows(TWO, two, 1);
      Awaitility.await()
          .atMost(TIMEOUT)
          .until(
              () -> {
                pretender.peers.send(ONE, heartbeat(2));
                return !log.with("its certificate is not for the member that it names").isEmpty();
              });
      // What is longer than a frame, too.
      pretender.peers.send(
          ONE,
          new PeerMessage.Append(
              1,
              0,
              0,
              List.of(new Entry(1, 1, Entry.Kind.OPERATION, Bytes.wrap(new byte[1 << 20]))),
              0));
      for (int i = 0; i < 20; i++) {
        pretender.peers.send(ONE, heartbeat(2));
        two.peers.send(ONE, heartbeat(3 + i));
        PeerMessage got = one.next(TIMEOUT.toMillis());
        while (heartbeat(1).equals(got)) {
          got = one.next(TIMEOUT.toMillis());
        }
        assertThat(got).isEqualTo(heartbeat(3 + i));
      }
    }
  }

  @Test
  void certificateOfAnotherHostIsRefused() {
    try (LoggedLines log = new LoggedLines()) {
      TestPeer one = asked(new TestTls("members").binding("127.0.0.9"));
      TestPeer two = peer(2, portTwo, "members");
      Awaitility.await()
          .atMost(TIMEOUT)
          .until(
              () -> {
                two.peers.send(ONE, heartbeat(2));
                return !log.with("its certificate is not for the member that it names").isEmpty();
              });
      assertThat(one.raft).isEmpty();
    }
  }
}
