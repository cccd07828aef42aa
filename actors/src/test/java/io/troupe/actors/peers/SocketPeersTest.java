package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.member.ShownMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.raft.PeerMessage;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connections between members in one process, over the loopback. */
class SocketPeersTest {
  private static final long CLUSTER = 77;
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId TWO = new NodeId(2);
  private static final long TIMEOUT_MS = 20_000;

  private final int portOne = FreePort.next();
  private final int portTwo = FreePort.next();
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  private TestPeer peer(long cluster, long id, int port, PeerDirectory directory) {
    TestPeer peer = new TestPeer(cluster, id, port, directory);
    open.add(peer);
    return peer;
  }

  private PeerDirectory both() {
    return directory(portOne, portTwo);
  }

  private static PeerDirectory directory(int one, int two) {
    return TestPeer.members(TestPeer.url(one), TestPeer.url(two));
  }

  private static PeerMessage heartbeat(long number) {
    return new PeerMessage.Heartbeat(1, number, 0);
  }

  /** The numbers of the next heartbeats, without those that opened the way. */
  private static List<Long> heartbeats(TestPeer receiver, int count) throws InterruptedException {
    List<Long> numbers = new ArrayList<>();
    while (numbers.size() < count) {
      PeerMessage got = receiver.next(TIMEOUT_MS);
      if (!(got instanceof PeerMessage.Heartbeat heartbeat)) {
        break;
      }
      if (heartbeat.commit() < 1000) {
        numbers.add(heartbeat.commit());
      }
    }
    return numbers;
  }

  /** Two followers: neither sends the other a Raft message. */
  @Tag("full")
  @Test
  void connectionStateIsKnownWithoutMessages() {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    Awaitility.await()
        .atMost(Duration.ofMillis(TIMEOUT_MS))
        .until(
            () -> {
              long fiveSecondsAgo = System.nanoTime() - Duration.ofSeconds(5).toNanos();
              return one.peers.connectedSince(TWO, fiveSecondsAgo)
                  && two.peers.connectedSince(ONE, fiveSecondsAgo);
            });
  }

  @Test
  void messagesArriveInOrderInBothDirections() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    // What is sent before the connection stands may be lost.
    one.untilItFlows(TWO, two, 1000);
    two.untilItFlows(ONE, one, 1000);
    for (int i = 0; i < 500; i++) {
      one.peers.send(TWO, heartbeat(i));
      two.peers.send(ONE, heartbeat(-i));
    }
    assertThat(heartbeats(two, 500)).isEqualTo(LongStream.range(0, 500).boxed().toList());
    assertThat(heartbeats(one, 500))
        .isEqualTo(LongStream.range(0, 500).map(i -> -i).boxed().toList());
    one.peers.send(TWO, new SnapshotMessage.Have(1, 2, 3));
    PeerEnvelope got = two.snapshots.poll(TIMEOUT_MS, TimeUnit.MILLISECONDS);
    assertThat(got)
        .isEqualTo(new PeerEnvelope(CLUSTER, ONE, TWO, new SnapshotMessage.Have(1, 2, 3)));
  }

  /** Short messages are written by their sender, long ones by the link's thread. */
  @Test
  void messagesOfEachSenderStayInOrder() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    one.untilItFlows(TWO, two, 1000);
    Entry large = new Entry(1, 1, Entry.Kind.OPERATION, Bytes.wrap(new byte[40_000]));
    PeerMessage append = new PeerMessage.Append(1, 0, 0, List.of(large), 0);
    List<CompletableFuture<Void>> senders = new ArrayList<>();
    for (int sender = 0; sender < 2; sender++) {
      int first = 500 * sender;
      senders.add(
          CompletableFuture.runAsync(
              () -> {
                for (int i = first; i < first + 500; i++) {
                  one.peers.send(TWO, heartbeat(i));
                  if (i % 20 == 0) {
                    one.peers.send(TWO, append);
                  }
                }
              },
              task -> new Thread(task).start()));
    }
    List<Long> received = new ArrayList<>();
    while (received.size() < 1000) {
      PeerMessage got = two.next(TIMEOUT_MS);
      assertThat(got).isNotNull();
      if (got instanceof PeerMessage.Heartbeat heartbeat && heartbeat.commit() < 1000) {
        received.add(heartbeat.commit());
      }
    }
    for (CompletableFuture<Void> sender : senders) {
      sender.get(20, TimeUnit.SECONDS);
    }
    assertThat(received.stream().filter(i -> i < 500))
        .containsExactlyElementsOf(LongStream.range(0, 500).boxed().toList());
    assertThat(received.stream().filter(i -> i >= 500))
        .containsExactlyElementsOf(LongStream.range(500, 1000).boxed().toList());
  }

  /** A heartbeat with its envelope has 39 bytes, and a hello fewer. */
  @Test
  void metricsCountTheBytesOfTheConnection() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    one.untilItFlows(TWO, two, 1000);
    double before = bytes(one, "sent", "To=\"2\"");
    for (int i = 0; i < 500; i++) {
      one.peers.send(TWO, heartbeat(i));
    }
    heartbeats(two, 500);
    assertThat(bytes(one, "sent", "To=\"2\"") - before).isBetween(500 * 35.0, 520 * 45.0);
    Awaitility.await()
        .atMost(Duration.ofMillis(TIMEOUT_MS))
        .untilAsserted(
            () ->
                assertThat(bytes(two, "received", "From=\"1\""))
                    .isGreaterThan(before)
                    .isEqualTo(bytes(one, "sent", "To=\"2\"")));
  }

  private static double bytes(TestPeer peer, String direction, String label) {
    return ShownMetrics.value(
        peer.metrics, "etcd_network_peer_" + direction + "_bytes_total{" + label + "}");
  }

  /** A member's port is open while it recovers, before it serves any channel. */
  @Test
  void messagesArriveAfterPeerHasRecovered() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    CountDownLatch recovering = new CountDownLatch(1);
    CountDownLatch recovered = new CountDownLatch(1);
    Runnable recovery =
        () -> {
          recovering.countDown();
          await(recovered);
        };
    CompletableFuture<TestPeer> starting =
        CompletableFuture.supplyAsync(
            () -> new TestPeer(CLUSTER, 2, portTwo, both(), TestPeer.Options.recovering(recovery)),
            task -> new Thread(task).start());
    await(recovering);
    sendFor(one, TWO, 2000);
    recovered.countDown();
    TestPeer two = starting.get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
    open.add(two);
    assertThat(one.untilItFlows(TWO, two, 1000)).isLessThan(1000);
  }

  private static void sendFor(TestPeer from, NodeId to, long ms) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    while (System.nanoTime() - end < 0) {
      from.peers.send(to, heartbeat(1));
      LockSupport.parkNanos(10_000_000);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void largeMessagesArriveWhole() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    one.untilItFlows(TWO, two, 1);
    byte[] data = new byte[20 << 20];
    new Random(3).nextBytes(data);
    PeerMessage huge =
        new PeerMessage.Append(
            1, 0, 0, List.of(new Entry(1, 1, Entry.Kind.OPERATION, Bytes.wrap(data))), 0);
    one.peers.send(TWO, huge);
    one.peers.send(TWO, heartbeat(2));
    PeerMessage got = two.next(TIMEOUT_MS);
    while (heartbeat(1).equals(got)) {
      got = two.next(TIMEOUT_MS);
    }
    assertThat(got).isEqualTo(huge);
    assertThat(two.next(TIMEOUT_MS)).isEqualTo(heartbeat(2));
  }

  @Test
  void aPeerThatRestartsOnItsAddressIsHeardAtOnce() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    one.untilItFlows(TWO, two, 1);
    two.untilItFlows(ONE, one, 1);
    two.close();
    for (int i = 0; i < 100; i++) {
      one.peers.send(TWO, heartbeat(5));
    }
    TestPeer again = peer(CLUSTER, 2, portTwo, both());
    assertThat(one.untilItFlows(TWO, again, 2)).isLessThan(1500);
    assertThat(again.untilItFlows(ONE, one, 2)).isLessThan(1500);
  }

  @Test
  void aPeerThatMovesIsFoundThroughTheDirectory() throws Exception {
    PeerDirectory directory = both();
    TestPeer one = peer(CLUSTER, 1, portOne, directory);
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    one.untilItFlows(TWO, two, 1);
    two.close();
    int elsewhere = FreePort.next();
    TestPeer moved = peer(CLUSTER, 2, elsewhere, directory(portOne, elsewhere));
    directory.replace(directory(portOne, elsewhere).members(), Set.of());
    one.untilItFlows(TWO, moved, 2);
    moved.untilItFlows(ONE, one, 2);
  }

  @Test
  void unknownMemberOfClusterReceivesRepliesAtItsAnnouncedAddress() throws Exception {
    PeerDirectory knowsOnlyItself = new PeerDirectory();
    TestPeer one = peer(CLUSTER, 1, portOne, knowsOnlyItself);
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    two.untilItFlows(ONE, one, 1);
    one.untilItFlows(TWO, two, 2);
  }

  /** A process that is stopped accepts connections and reads nothing. */
  @Tag("full")
  @Test
  void pausedPeerIsReachedSoonAfterItContinues() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    try (ServerSocket paused = new ServerSocket(portTwo, 16, InetAddress.getLoopbackAddress())) {
      sendFor(one, TWO, 5000);
      assertThat(paused.isClosed()).isFalse();
    }
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    assertThat(one.untilItFlows(TWO, two, 1)).isLessThan(1500);
  }

  /** A blocked sender would wait until the link breaks, after 3 s without a pong. */
  @Test
  void senderDoesNotWaitForPeerThatReadsNothing() {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    one.untilItFlows(TWO, two, 1);
    assertThat(one.slowestSendTo(two, TWO)).isLessThan(Duration.ofSeconds(1));
    one.untilItFlows(TWO, two, 2);
  }

  /** A member may be started again as soon as it is closed. */
  @Test
  void portIsFreeWhenTheNetworkIsClosed() throws Exception {
    for (int i = 0; i < 200; i++) {
      PeerNetwork network =
          PeerNetwork.open(
              new PeerNetwork.Settings(TestPeer.url(portOne), null, 0, new EtcdVersion(3, 7, 1)),
              List.of(PeerListener.tcp(new PeerAddress("127.0.0.1", portOne), PeerNetwork.BACKLOG)),
              null,
              failure -> {
                throw new IllegalStateException(failure);
              });
      List<Thread> acceptors =
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().equals("peer-accept"))
              .toList();
      assertThat(acceptors).hasSize(1);
      network.close();
      assertThat(acceptors).noneMatch(Thread::isAlive);
    }
  }

  @Test
  void connectionsAndThreadsEndWithNetwork() {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    one.untilItFlows(TWO, two, 1);
    two.untilItFlows(ONE, one, 1);
    one.peers.send(TWO, new SnapshotMessage.Have(1, 2, 3));
    one.close();
    two.close();
    Awaitility.await()
        .atMost(Duration.ofMillis(TIMEOUT_MS))
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .noneMatch(
                        name ->
                            name.startsWith("peer-")
                                && (name.contains(":" + portOne)
                                    || name.contains(":" + portTwo)
                                    || name.equals("peer-timer")
                                    || name.equals("peer-accept"))));
  }

  @Test
  void otherClustersAndMessagesForOthersAreRefused() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer foreign = peer(CLUSTER + 1, 2, portTwo, both());
    int third = FreePort.next();
    PeerDirectory mistaken = new PeerDirectory();
    mistaken.replace(
        Map.of(TWO, List.of(TestPeer.url(portOne)), ONE, List.of(TestPeer.url(portOne))), Set.of());
    TestPeer lost = peer(CLUSTER, 3, third, mistaken);
    for (int i = 0; i < 50; i++) {
      foreign.peers.send(ONE, heartbeat(13));
      // It believes that member 2 lives where member 1 is.
      lost.peers.send(TWO, heartbeat(14));
    }
    PeerMessage got = null;
    while (got == null) {
      lost.peers.send(ONE, heartbeat(15));
      got = one.next(50);
    }
    while (got != null) {
      assertThat(got).isEqualTo(heartbeat(15));
      got = one.next(300);
    }
  }

  @Tag("full")
  @Test
  void aPeerThatIsDownCostsNothingAndAnOutageEndsWithinASecond() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    PeerMessage kilobyte =
        new PeerMessage.Append(
            1, 0, 0, List.of(new Entry(1, 1, Entry.Kind.OPERATION, Bytes.wrap(new byte[1024]))), 0);
    long start = System.nanoTime();
    for (int i = 0; i < 10_000; i++) {
      one.peers.send(TWO, kilobyte);
    }
    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(5));
    // Traffic continues as long as the outage does: each message may be what breaks something.
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (System.nanoTime() - end < 0) {
      one.peers.send(TWO, heartbeat(1));
      TimeUnit.MILLISECONDS.sleep(50);
    }
    assertThat(one.peers.isAway(TWO)).isTrue();
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    assertThat(one.untilItFlows(TWO, two, 2)).isLessThan(1000);
    two.untilItFlows(ONE, one, 2);
    assertThat(one.peers.isAway(TWO)).isFalse();
  }

  @Tag("full")
  @Test
  void behindAProxyTheAdvertisedAddressDiffersFromTheBoundOne() throws Exception {
    int hidden = FreePort.next();
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = new TestPeer(CLUSTER, 2, portTwo, both(), TestPeer.Options.bound(hidden));
    open.add(two);
    try (LoopbackProxy proxy = new LoopbackProxy(portTwo, hidden)) {
      one.untilItFlows(TWO, two, 1);
      two.untilItFlows(ONE, one, 1);
      // An outage of ten seconds on the way, both processes alive: afterwards all is as before.
      long beforeOutage = System.nanoTime();
      assertThat(two.peers.heardSince(ONE, beforeOutage)).isTrue();
      proxy.cut();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (System.nanoTime() - end < 0) {
        one.peers.send(TWO, heartbeat(3));
        two.peers.send(ONE, heartbeat(3));
        TimeUnit.MILLISECONDS.sleep(50);
      }
      assertThat(two.peers.heardSince(ONE, System.nanoTime())).as("cut off").isFalse();
      proxy.mend();
      assertThat(one.untilItFlows(TWO, two, 4)).isLessThan(1000);
      assertThat(two.peers.heardSince(ONE, beforeOutage)).as("there was a break").isFalse();
      assertThat(two.peers.heardSince(ONE, System.nanoTime())).isTrue();
      assertThat(one.peers.heardSince(TWO, beforeOutage)).as("only one way").isTrue();
    }
  }

  /** All of 127/8 is this machine. */
  @Test
  void connectionsComeFromTheAddressThatIsSet() throws Exception {
    int hidden = FreePort.next();
    TestPeer two = new TestPeer(CLUSTER, 2, portTwo, both(), TestPeer.Options.bound(hidden));
    open.add(two);
    TestPeer one = new TestPeer(CLUSTER, 1, portOne, both(), TestPeer.Options.from("127.0.0.9"));
    open.add(one);
    try (LoopbackProxy proxy = new LoopbackProxy(portTwo, hidden)) {
      one.untilItFlows(TWO, two, 1);
      two.untilItFlows(ONE, one, 1);
      assertThat(proxy.callers()).containsExactly("127.0.0.9");
    }
  }

  @Test
  void malformedBytesOnPortHaveNoEffect() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne, both());
    TestPeer two = peer(CLUSTER, 2, portTwo, both());
    Random random = new Random(9);
    for (int i = 0; i < 30; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), portTwo)) {
        byte[] rubbish = new byte[1000];
        random.nextBytes(rubbish);
        socket.getOutputStream().write(rubbish);
      } catch (IOException cut) {
        assertThat(cut).hasMessageNotContaining("refused");
      }
    }
    one.untilItFlows(TWO, two, 1);
  }
}
