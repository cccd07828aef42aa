package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.testing.FreePort;
import io.troupe.testing.LoggedLines;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Unknown peers that begin handshakes of TLS as fast as they can, from many addresses. */
class PeerFloodTest {
  private static final long CLUSTER = 80;
  private static final NodeId TWO = new NodeId(2);
  private static final int CONNECTIONS = 3000;
  private static final int LEFT_OPEN = 200;

  private final int portOne = FreePort.next();
  private final int portTwo = FreePort.next();
  private final TestTls tlsOfTwo = new TestTls("members");
  private final AtomicLong begun = new AtomicLong();

  private PeerDirectory both() {
    return TestPeer.members(TestPeer.tlsUrl(portOne), TestPeer.tlsUrl(portTwo));
  }

  private TestPeer one() {
    return new TestPeer(CLUSTER, 1, portOne, both(), TestPeer.Options.tls(new TestTls("members")));
  }

  /** Until it is interrupted. */
  private Void flood(byte[] hello) throws IOException {
    Deque<Socket> open = new ArrayDeque<>();
    try {
      while (!Thread.currentThread().isInterrupted()) {
        long number = begun.incrementAndGet();
        byte[] from = {127, 1, (byte) (number / 250 % 250), (byte) (1 + number % 250)};
        Socket socket = new Socket();
        open.add(socket);
        if (open.size() > LEFT_OPEN) {
          open.remove().close();
        }
        begin(socket, from, hello);
      }
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
    }
    return null;
  }

  private void begin(Socket socket, byte[] from, byte[] hello) throws IOException {
    socket.bind(new InetSocketAddress(InetAddress.getByAddress(from), 0));
    try {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), portTwo), 10_000);
      socket.getOutputStream().write(hello);
    } catch (SocketException reset) {
      // The member refuses the handshake, possibly before connect returns.
      socket.close();
    }
  }

  @Test
  void aMemberComesThroughAndFewHandshakesAreWorkedOn() throws Exception {
    ExecutorService attackers = Executors.newFixedThreadPool(2);
    TestPeer two = new TestPeer(CLUSTER, 2, portTwo, both(), TestPeer.Options.tls(tlsOfTwo));
    TestPeer one = one();
    try (LoggedLines log = new LoggedLines()) {
      one.untilItFlows(TWO, two, 1);
      long start = System.nanoTime();
      long before = tlsOfTwo.handshakes();
      byte[] hello = new TestTls(TestTls.UNKNOWN).clientHello();
      List<Future<Void>> floods =
          List.of(attackers.submit(() -> flood(hello)), attackers.submit(() -> flood(hello)));
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> begun.get() > CONNECTIONS || floods.stream().anyMatch(Future::isDone));
      // Its process restarts, so that all its connections do.
      one.close();
      one = one();
      long took = one.untilItFlows(TWO, two, 2);
      long worked = tlsOfTwo.handshakes() - before;
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start) + 1;
      System.out.printf(
          "flood: connections=%d handshakes=%d seconds=%d member-ms=%d%n",
          begun.get(), worked, seconds, took);
      assertThat(floods).noneMatch(Future::isDone);
      assertThat(took).isLessThan(15_000);
      int members = 20;
      assertThat(worked)
          .isLessThanOrEqualTo(
              HandshakeLimit.OF_UNKNOWN_PEERS.atOnce()
                  + HandshakeLimit.OF_UNKNOWN_PEERS.perSecond() * seconds
                  + members);
      assertThat(log.with("too many handshakes")).hasSizeBetween(1, 2);
    } finally {
      attackers.shutdownNow();
      one.close();
      two.close();
    }
  }
}
