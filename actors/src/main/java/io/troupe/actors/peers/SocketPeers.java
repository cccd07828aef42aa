package io.troupe.actors.peers;

import io.troupe.actors.peers.OutboundQueue.Outgoing;
import io.troupe.metrics.PeerMetrics;
import io.troupe.metrics.RateLimitedLogger;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerGreeting;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.PeerTransport;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.protocol.SnapshotTransport;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.raft.PeerMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages of Raft and of snapshot transfers between this member and the other members. Full queues
 * and broken connections drop messages; Raft repairs that. Thread-safe; never blocks on the
 * network.
 *
 * <p>Messages of removed members are accepted: the core replies that they are removed. So are
 * messages of members that this one does not know yet (docs/decisions/0021).
 */
public final class SocketPeers implements PeerTransport, SnapshotTransport {
  private static final Logger LOG = LoggerFactory.getLogger(SocketPeers.class);
  private static final Duration UNRESPONSIVE_AFTER = Duration.ofSeconds(5);

  /** Several times {@link #GREETING}. */
  private static final Duration QUIET = Duration.ofSeconds(3);

  private static final Duration CHECK = Duration.ofSeconds(1);

  /** A member that received nothing for so long gets a hello; below the interval of the checks. */
  private static final Duration GREETING = Duration.ofMillis(900);

  private static final int MAX_LOGGED = 1000;

  /** Links of one member. */
  private record Target(List<String> urls, PeerLink raft, PeerLink snapshots) {}

  private record Complaint(long clusterId, NodeId from, String reason) {}

  private final PeerNetwork network;
  private final PeerIdentity self;
  private final PeerDirectory directory;
  private final PeerMetrics metrics;
  private final Consumer<PeerEnvelope> raft;
  private final Consumer<PeerEnvelope> snapshots;
  private final Consumer<Map<String, Long>> foreign;

  /** Cluster of the process that listens at a member's URL, while it is not this cluster. */
  private final Map<NodeId, Long> foreignClusters = new ConcurrentHashMap<>();

  /** True once a member of this cluster was heard, or the foreign clusters were published. */
  private volatile boolean clusterKnown;

  private final PeerLiveness contacts;
  private final RateLimitedLogger rateLimitedLog = new RateLimitedLogger(LOG);
  private final Map<NodeId, Target> targets = new ConcurrentHashMap<>();
  private final Set<Complaint> logged = ConcurrentHashMap.newKeySet();

  private SocketPeers(
      PeerNetwork network,
      PeerIdentity self,
      PeerDirectory directory,
      Duration silence,
      PeerMetrics metrics,
      Consumer<PeerEnvelope> raft,
      Consumer<PeerEnvelope> snapshots,
      Consumer<Map<String, Long>> foreign) {
    this.network = network;
    this.self = self;
    this.directory = directory;
    this.metrics = metrics;
    this.raft = raft;
    this.snapshots = snapshots;
    this.foreign = foreign;
    this.contacts = new PeerLiveness(UNRESPONSIVE_AFTER, silence, QUIET);
  }

  /**
   * Serves the channels RAFT and SNAPSHOT of the network from now on.
   *
   * @param silence a peer that sent nothing for so long counts as disconnected meanwhile
   * @param metrics counts messages
   * @param raft receives the messages of other members' raft actors, on the threads of their
   *     connections; never blocks
   * @param snapshots receives the messages of their transfer actors, likewise
   * @param foreign receives, once at most, URLs and clusters, if before any member of this cluster
   *     was heard so many URLs belong to other clusters that no quorum is possible; never blocks
   */
  public static SocketPeers start(
      PeerNetwork network,
      PeerIdentity self,
      PeerDirectory directory,
      Duration silence,
      PeerMetrics metrics,
      Consumer<PeerEnvelope> raft,
      Consumer<PeerEnvelope> snapshots,
      Consumer<Map<String, Long>> foreign) {
    SocketPeers peers =
        new SocketPeers(network, self, directory, silence, metrics, raft, snapshots, foreign);
    network.every(CHECK, peers::check);
    network.serve(PeerChannel.RAFT, peers.new Receiver());
    network.serve(PeerChannel.SNAPSHOT, peers.new Receiver());
    return peers;
  }

  /**
   * For messages of other members that wait for an actor, until that actor stops.
   *
   * @param partOfHeap 16 for a sixteenth of the heap
   */
  public PeerBacklog backlog(int partOfHeap) {
    return new PeerBacklog(Runtime.getRuntime().maxMemory() / partOfHeap, directory::isMember);
  }

  @Override
  public void send(NodeId to, PeerMessage message) {
    Target target = target(to);
    if (target != null) {
      contacts.sent(to, System.nanoTime());
      send(to, target.raft(), new PeerPayload.Raft(message));
    }
  }

  @Override
  public void send(NodeId to, SnapshotMessage message) {
    Target target = target(to);
    if (target != null) {
      send(to, target.snapshots(), message);
    }
  }

  /** Sends a digest of this member's state to all other members. */
  public void send(PeerPayload.StateDigest digest) {
    for (NodeId member : directory.members().keySet()) {
      Target target = member.equals(self.memberId()) ? null : target(member);
      if (target != null) {
        send(member, target.raft(), digest);
      }
    }
  }

  /**
   * Sends a hello to members to which nothing was sent for a while: they learn that this one is
   * alive, perhaps at a new address, and since when the connection lasts. Followers send each other
   * nothing else.
   */
  private void check() {
    long now = System.nanoTime();
    contacts.check(now);
    Set<NodeId> members = directory.members().keySet();
    checkCluster(members);
    for (NodeId member : members) {
      if (!member.equals(self.memberId()) && !contacts.toldWithin(member, GREETING, now)) {
        Target target = target(member);
        if (target != null) {
          send(member, target.raft(), new PeerPayload.Hello());
        }
      }
    }
    targets
        .entrySet()
        .removeIf(
            each -> {
              Target target = each.getValue();
              boolean unused =
                  !members.contains(each.getKey())
                      && !target.raft().isRunning()
                      && !target.snapshots().isRunning();
              if (unused) {
                unlink(target);
              }
              return unused;
            });
  }

  /** A data directory of another cluster: this member would wait for a quorum forever. */
  private void checkCluster(Set<NodeId> members) {
    foreignClusters.keySet().retainAll(members);
    int possible = members.size() - foreignClusters.size();
    if (clusterKnown || foreignClusters.isEmpty() || possible > members.size() / 2) {
      return;
    }
    clusterKnown = true;
    Map<String, Long> found = new TreeMap<>();
    foreignClusters.forEach(
        (member, cluster) -> found.put(String.join(",", directory.urlsToReach(member)), cluster));
    foreign.accept(found);
  }

  private void refused(NodeId member, PeerGreeting.Reply reply) {
    if (reply.clusterId() == self.clusterId() || reply.clusterId() == QueryFrame.NO_CLUSTER) {
      foreignClusters.remove(member);
    } else {
      foreignClusters.put(member, reply.clusterId());
    }
  }

  /** True if messages have been going to that member for 5 s and none comes. */
  public boolean isAway(NodeId member) {
    return contacts.isAway(member);
  }

  /**
   * True if that member has been heard without a break since {@code nanos}, a reading of {@link
   * System#nanoTime}, or longer.
   */
  public boolean heardSince(NodeId member, long nanos) {
    return contacts.heardSince(member, nanos, System.nanoTime());
  }

  /** True if the connection from that member has held since {@code nanos} or longer. */
  public boolean connectedSince(NodeId member, long nanos) {
    return contacts.connectedSince(member, nanos, System.nanoTime());
  }

  private void send(NodeId to, PeerLink link, PeerPayload payload) {
    contacts.told(to, System.nanoTime());
    PeerEnvelope envelope = new PeerEnvelope(self.clusterId(), self.memberId(), to, payload);
    long size = PeerCodec.sizeAtMost(envelope);
    Outgoing message =
        new Outgoing(
            Frames.MESSAGE,
            size,
            () -> {
              byte[] encoded = PeerCodec.encode(envelope);
              metrics.sent(to.value(), encoded.length);
              return encoded;
            });
    if (!link.send(message)) {
      metrics.sendFailed(to.value());
      rateLimitedLog.warn(
          "dropped a message to another member, too much waits for its connection;",
          "remote-peer-id=" + to + " bytes=" + size + " waiting-bytes=" + link.bytes());
    }
  }

  private @Nullable Target target(NodeId to) {
    List<String> urls = directory.urlsToReach(to);
    if (urls.isEmpty()) {
      LOG.debug("no address of peer={}", to);
      metrics.sendFailed(to.value());
      return null;
    }
    Target target = targets.get(to);
    return target != null && target.urls().equals(urls) ? target : linked(to, urls);
  }

  private synchronized @Nullable Target linked(NodeId to, List<String> urls) {
    Target known = targets.get(to);
    if (known != null) {
      if (known.urls().equals(urls)) {
        return known;
      }
      targets.remove(to);
      unlink(known);
    }
    List<PeerAddress> addresses = addresses(urls);
    if (addresses.isEmpty()) {
      return null;
    }
    Target made =
        new Target(
            urls, link(to, addresses, PeerChannel.RAFT), link(to, addresses, PeerChannel.SNAPSHOT));
    targets.put(to, made);
    return made;
  }

  /** Addresses of the URLs that this member can use. */
  private List<PeerAddress> addresses(List<String> urls) {
    List<PeerAddress> addresses = new ArrayList<>();
    for (String url : urls) {
      if (PeerAddress.isTls(url) != PeerAddress.isTls(self.url())) {
        rateLimitedLog.warn(
            "members cannot communicate, one speaks TLS and the other does not;",
            "here=" + self.url() + " there=" + url);
        continue;
      }
      try {
        addresses.add(PeerAddress.of(url));
      } catch (IllegalArgumentException e) {
        LOG.debug("bad address url={} reason={}", url, e.getMessage());
      }
    }
    return addresses;
  }

  private PeerLink link(NodeId to, List<PeerAddress> addresses, PeerChannel channel) {
    PeerGreeting greeting =
        new PeerGreeting(
            GreetingRules.VERSION,
            GreetingRules.VERSION,
            self.clusterId(),
            self.memberId(),
            to,
            self.url(),
            channel);
    return network.link(
        () -> addresses,
        () -> greeting,
        count -> {
          for (int i = 0; i < count; i++) {
            metrics.sendFailed(to.value());
          }
        },
        reply -> refused(to, reply));
  }

  private void unlink(Target target) {
    network.unlink(target.raft());
    network.unlink(target.snapshots());
  }

  /** Receives what other members send. */
  private final class Receiver implements PeerReceiver {
    @Override
    public @Nullable String refusal(PeerGreeting greeting) {
      NodeId from = greeting.from();
      if (greeting.clusterId() != self.clusterId()) {
        return "it is of another cluster: here "
            + Long.toHexString(self.clusterId())
            + ", there "
            + Long.toHexString(greeting.clusterId());
      }
      if (from.isNone() || from.equals(self.memberId())) {
        return "it claims to be this member";
      }
      if (!greeting.to().equals(self.memberId())) {
        return "it is for member " + greeting.to() + ", this is member " + self.memberId();
      }
      if (directory.isRemoved(from)) {
        logOnce(greeting, "connection of a removed member");
      }
      return null;
    }

    @Override
    public PeerGreeting.Reply reply(int version) {
      return PeerGreeting.Reply.accepted(version, self.clusterId(), self.memberId());
    }

    @Override
    public List<String> urlsOf(NodeId member) {
      return directory.urlsOf(member);
    }

    @Override
    public void message(PeerGreeting greeting, PeerEnvelope envelope, int bytes) {
      if (envelope.clusterId() != greeting.clusterId()
          || !envelope.from().equals(greeting.from())
          || !envelope.to().equals(self.memberId())) {
        logOnce(greeting, "message refused, it contradicts the greeting of its connection");
        return;
      }
      metrics.received(envelope.from().value(), bytes);
      contacts.heard(envelope.from(), System.nanoTime());
      clusterKnown = true;
      directory.learn(envelope.from(), greeting.fromUrl());
      if (!(envelope.payload() instanceof PeerPayload.Hello)) {
        (greeting.channel() == PeerChannel.RAFT ? raft : snapshots).accept(envelope);
      }
    }

    @Override
    public void query(PeerGreeting greeting, QueryFrame frame) {
      throw new IllegalStateException("no query comes on the channel " + greeting.channel());
    }

    @Override
    public void unreadable(PeerGreeting greeting, String reason) {
      metrics.receiveFailed(greeting.from().value());
      rateLimitedLog.warn("a message of another member cannot be read:", reason);
    }

    private void logOnce(PeerGreeting greeting, String text) {
      if (logged.size() < MAX_LOGGED
          && logged.add(new Complaint(greeting.clusterId(), greeting.from(), text))) {
        LOG.warn(
            "{} peer={} cluster-id={}",
            text,
            greeting.from(),
            Long.toHexString(greeting.clusterId()));
      }
    }
  }
}
