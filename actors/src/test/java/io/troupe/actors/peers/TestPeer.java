package io.troupe.actors.peers;

import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.QueryFrame;
import io.troupe.raft.PeerMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A member that consists only of its connections to other members and its query actor. */
final class TestPeer implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  final BlockingQueue<PeerEnvelope> raft = new LinkedBlockingQueue<>();
  final BlockingQueue<PeerEnvelope> snapshots = new LinkedBlockingQueue<>();

  /** Runs on the connection's thread before each message of the raft channel. */
  volatile Runnable beforeMessage = () -> {};

  /** URLs that belong to other clusters, when no quorum is possible because of them. */
  final CompletableFuture<Map<String, Long>> foreign = new CompletableFuture<>();

  final PeerDirectory directory;
  final PeerNetwork network;
  final SocketPeers peers;
  final SocketQueries queries;
  final MemberMetrics metrics = new MemberMetrics();
  private final ActorSystem<Void> system;

  /**
   * What differs from test to test.
   *
   * @param bindPort port that it listens on; 0: the port of its URL
   * @param recovery runs while the port is open and nothing is served yet
   * @param tls null without TLS
   * @param localHost address of its outgoing connections; null: any
   * @param memoryBytes memory for messages in flight; 0: from the heap
   */
  record Options(
      int bindPort,
      Runnable recovery,
      @Nullable PeerTls tls,
      @Nullable String localHost,
      long memoryBytes) {
    static final Options PLAIN = new Options(0, () -> {}, null, null, 0);

    static Options tls(PeerTls tls) {
      return new Options(0, () -> {}, tls, null, 0);
    }

    static Options bound(int bindPort) {
      return new Options(bindPort, () -> {}, null, null, 0);
    }

    static Options recovering(Runnable recovery) {
      return new Options(0, recovery, null, null, 0);
    }

    static Options from(String localHost) {
      return new Options(0, () -> {}, null, localHost, 0);
    }

    static Options memory(long bytes) {
      return new Options(0, () -> {}, null, null, bytes);
    }
  }

  TestPeer(long clusterId, long id, int port, PeerDirectory directory) {
    this(clusterId, id, port, directory, Options.PLAIN);
  }

  TestPeer(long clusterId, long id, int port, PeerDirectory directory, Options options) {
    this.directory = directory;
    String url = options.tls() == null ? url(port) : tlsUrl(port);
    PeerIdentity self = new PeerIdentity(clusterId, new NodeId(id), url);
    int bindPort = options.bindPort() == 0 ? port : options.bindPort();
    try {
      network =
          PeerNetwork.open(
              new PeerNetwork.Settings(
                  url, options.localHost(), options.memoryBytes(), new EtcdVersion(3, 7, 1)),
              List.of(
                  PeerListener.tcp(new PeerAddress("127.0.0.1", bindPort), PeerNetwork.BACKLOG)),
              options.tls(),
              failure -> {
                throw new IllegalStateException(failure);
              });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    options.recovery().run();
    CompletableFuture<SocketQueries> asking = new CompletableFuture<>();
    Behavior<Void> guardian =
        Behaviors.setup(
            context -> {
              asking.complete(SocketQueries.start(context, network, directory, url));
              return Behaviors.empty();
            });
    system = ActorSystem.create(guardian, "troupe");
    queries = asking.join();
    if (clusterId != QueryFrame.NO_CLUSTER) {
      queries.identified(self);
    }
    peers =
        SocketPeers.start(
            network,
            self,
            directory,
            Duration.ofSeconds(3),
            metrics.peers(),
            message -> {
              beforeMessage.run();
              raft.add(message);
            },
            snapshots::add,
            foreign::complete);
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
   * Sends more short messages than connection and queue hold to a peer that reads nothing
   * meanwhile. Returns the longest time of one call.
   */
  Duration slowestSendTo(TestPeer receiver, NodeId to) {
    CountDownLatch reads = new CountDownLatch(1);
    receiver.beforeMessage =
        () -> {
          try {
            reads.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        };
    Entry entry = new Entry(1, 1, Entry.Kind.OPERATION, Bytes.wrap(new byte[12_000]));
    PeerMessage append = new PeerMessage.Append(1, 0, 0, List.of(entry), 0);
    long slowest = 0;
    try {
      for (int i = 0; i < 2000; i++) {
        long start = System.nanoTime();
        peers.send(to, append);
        slowest = Math.max(slowest, System.nanoTime() - start);
      }
    } finally {
      receiver.beforeMessage = () -> {};
      reads.countDown();
    }
    return Duration.ofNanos(slowest);
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
    system.terminate();
    network.close();
    Awaitility.await("end of the actor system")
        .atMost(TIMEOUT)
        .until(() -> system.getWhenTerminated().toCompletableFuture().isDone());
  }
}
