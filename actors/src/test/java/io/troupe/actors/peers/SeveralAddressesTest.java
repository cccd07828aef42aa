package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A member with several peer URLs is reached at each of them. */
class SeveralAddressesTest {
  private static final long CLUSTER = 77;
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId TWO = new NodeId(2);
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final int portOne = FreePort.next();
  private final int portTwo = FreePort.next();
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  /** What member one knows. */
  private PeerDirectory directory(String... urlsOfTwo) {
    PeerDirectory directory = new PeerDirectory();
    directory.replace(
        Map.of(ONE, List.of(TestPeer.url(portOne)), TWO, List.of(urlsOfTwo)), Set.of());
    return directory;
  }

  private TestPeer one(PeerDirectory directory) {
    TestPeer peer = new TestPeer(CLUSTER, 1, portOne, directory);
    open.add(peer);
    return peer;
  }

  private TestPeer two() {
    TestPeer peer = new TestPeer(CLUSTER, 2, portTwo, directory(TestPeer.url(portTwo)));
    open.add(peer);
    return peer;
  }

  private LoopbackProxy proxy() throws IOException {
    LoopbackProxy proxy = new LoopbackProxy(0, portTwo);
    open.add(proxy);
    return proxy;
  }

  @Test
  void addressWithoutListenerIsSkipped() throws Exception {
    TestPeer one = one(directory(TestPeer.url(FreePort.next()), TestPeer.url(portTwo)));
    TestPeer two = two();
    one.untilItFlows(TWO, two, 1000);
  }

  /** The network of an address may lose packets without a word. */
  @Test
  void otherAddressReplacesOneThatIsSilent() throws Exception {
    LoopbackProxy first = proxy();
    LoopbackProxy second = proxy();
    TestPeer one = one(directory(TestPeer.url(first.port()), TestPeer.url(second.port())));
    TestPeer two = two();
    one.untilItFlows(TWO, two, 1000);
    first.cut();
    one.untilItFlows(TWO, two, 2000);
    first.mend();
    second.cut();
    one.untilItFlows(TWO, two, 3000);
    second.mend();
    first.cut();
    one.untilItFlows(TWO, two, 4000);
  }

  @Test
  void queryReachesTheMemberAtItsOtherAddress() throws Exception {
    String dead = TestPeer.url(FreePort.next());
    TestPeer one = one(directory(dead, TestPeer.url(portTwo)));
    TestPeer two = two();
    PeerReply members = new PeerReply.Members(CLUSTER, List.of());
    two.queries.serve((from, query) -> CompletableFuture.completedFuture(members));
    PeerReply reply =
        one.queries
            .ask(dead, PeerQuery.MembersQuery.INSTANCE, TIMEOUT)
            .toCompletableFuture()
            .get(60, TimeUnit.SECONDS);
    assertThat(reply).isEqualTo(members);
  }
}
