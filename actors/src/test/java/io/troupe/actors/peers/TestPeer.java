package io.troupe.actors.peers;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.QueryFrame;
import io.troupe.raft.PeerMessage;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.setup.ActorSystemSetup;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A member that is nothing but its transport, in an actor system of its own. */
final class TestPeer implements AutoCloseable {
  /** What happens once a minute happens all the time here. */
  private static final String PEKKO =
      """
      pekko.log-dead-letters = off
      pekko.remote.artery.advanced.compression.actor-refs.advertisement-interval = 300 ms
      pekko.remote.artery.advanced.compression.manifests.advertisement-interval = 300 ms
      """;

  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  final BlockingQueue<PeerEnvelope> raft = new LinkedBlockingQueue<>();
  final BlockingQueue<PeerEnvelope> snapshots = new LinkedBlockingQueue<>();
  final PeerDirectory directory;
  final ArteryPeers peers;
  final ArteryQueries queries;
  final ActorSystem<Void> system;

  TestPeer(long clusterId, long id, int port, PeerDirectory directory) {
    this(clusterId, id, port, port, directory);
  }

  TestPeer(long clusterId, long id, int port, int bindPort, PeerDirectory directory) {
    this(clusterId, id, port, bindPort, directory, () -> {});
  }

  /** A peer whose port is open while {@code recovery} still runs, before an actor listens. */
  TestPeer(
      long clusterId, long id, int port, int bindPort, PeerDirectory directory, Runnable recovery) {
    this(clusterId, id, port, bindPort, directory, recovery, null, ConfigFactory.empty());
  }

  /** A peer with more configuration. */
  TestPeer(long clusterId, long id, int port, PeerDirectory directory, Config more) {
    this(clusterId, id, port, port, directory, () -> {}, null, more);
  }

  /** A peer that speaks TLS, with peer URLs that say so. */
  TestPeer(long clusterId, long id, int port, PeerDirectory directory, PeerEngines engines) {
    this(clusterId, id, port, port, directory, () -> {}, engines, ConfigFactory.empty());
  }

  private TestPeer(
      long clusterId,
      long id,
      int port,
      int bindPort,
      PeerDirectory directory,
      Runnable recovery,
      @Nullable PeerEngines engines,
      Config more) {
    this.directory = directory;
    String url = engines == null ? url(port) : tlsUrl(port);
    CompletableFuture<ArteryPeers> started = new CompletableFuture<>();
    CompletableFuture<ArteryQueries> asking = new CompletableFuture<>();
    PeerIdentity self = new PeerIdentity(clusterId, new NodeId(id), url);
    Behavior<Void> guardian =
        Behaviors.setup(
            context -> {
              recovery.run();
              ArteryQueries actor = ArteryQueries.start(context, directory, url);
              if (clusterId != QueryFrame.NO_CLUSTER) {
                actor.identified(self);
              }
              asking.complete(actor);
              started.complete(
                  ArteryPeers.start(
                      context,
                      self,
                      directory,
                      Duration.ofSeconds(3),
                      new MemberMetrics().peers(),
                      raft::add,
                      snapshots::add));
              return Behaviors.empty();
            });
    PeerAddress canonical = new PeerAddress("127.0.0.1", port);
    PeerAddress bind = new PeerAddress("127.0.0.1", bindPort);
    Config config =
        more.withFallback(PeerConfig.of(canonical, bind, engines != null))
            .withFallback(ConfigFactory.parseString(PEKKO))
            .withFallback(ConfigFactory.load());
    ActorSystemSetup setup = ActorSystemSetup.create(BootstrapSetup.create(config));
    system =
        ActorSystem.create(
            guardian,
            PeerConfig.SYSTEM,
            engines == null ? setup : setup.withSetup(PeerTls.setup(engines)));
    peers = started.join();
    queries = asking.join();
  }

  static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  static String tlsUrl(int port) {
    return "https://127.0.0.1:" + port;
  }

  /** Members 1, 2 and so on, at these URLs. */
  static PeerDirectory members(String... urls) {
    Map<NodeId, List<String>> members = new HashMap<>();
    for (int i = 0; i < urls.length; i++) {
      members.put(new NodeId(i + 1), List.of(urls[i]));
    }
    PeerDirectory directory = new PeerDirectory();
    directory.replace(members, Set.of());
    return directory;
  }

  /**
   * Sends until one message arrives; the time from the call to the arrival, in milliseconds.
   *
   * @param mark no other call's
   */
  long untilItFlows(NodeId to, TestPeer receiver, long mark) {
    PeerMessage message = new PeerMessage.Heartbeat(1, mark, 0);
    long start = System.nanoTime();
    Awaitility.await("message " + mark)
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(1))
        .until(
            () -> {
              peers.send(to, message);
              PeerMessage got = receiver.next(30);
              while (got != null && !got.equals(message)) {
                got = receiver.next(30);
              }
              return got != null;
            });
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }

  /** The next Raft message, or null if none came in that time. */
  @Nullable PeerMessage next(long millis) throws InterruptedException {
    PeerEnvelope envelope = raft.poll(millis, TimeUnit.MILLISECONDS);
    return envelope == null ? null : ((PeerPayload.Raft) envelope.payload()).message();
  }

  @Override
  public void close() {
    TestEnd.await(system);
  }
}
