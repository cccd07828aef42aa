package io.troupe.actors.peers;

import io.troupe.metrics.PeerMetrics;
import io.troupe.metrics.RateLimitedLogger;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerFragment;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.PeerTransport;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.protocol.SnapshotTransport;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.raft.PeerMessage;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorRefProvider;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.eventstream.EventStream;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.remote.artery.QuarantinedEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends over Pekko Artery to the inbox actors of other members, which are addressed by path from
 * the peer URL. No remote actor is watched or registered, so no peer can be quarantined. Full
 * queues drop messages; Raft repairs that. Thread-safe; never blocks on the network.
 */
public final class ArteryPeers implements PeerTransport, SnapshotTransport {
  /** Longer messages go in pieces of this length; a frame holds 256 KiB. */
  static final int PIECE_BYTES = 128 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(ArteryPeers.class);
  private static final Duration UNRESPONSIVE_AFTER = Duration.ofSeconds(5);

  /** Several times {@link #GREETING}. */
  private static final Duration QUIET = Duration.ofSeconds(3);

  /** Longer than Artery keeps messages for a member to which nothing is sent. */
  private static final Duration UNUSED = Duration.ofMinutes(10);

  /**
   * A member to which nothing went for so long gets a greeting; below the interval of the checks.
   */
  private static final Duration GREETING = Duration.ofMillis(900);

  private record Target(String url, ActorRef raft, ActorRef snapshots) {}

  /** What waits for one member. */
  private record Queues(OutboundQueue raft, OutboundQueue snapshots) {}

  private final PeerIdentity self;
  private final PeerDirectory directory;
  private final PeerMetrics metrics;
  private final ActorRefProvider provider;
  private final HandshakeFilter admission;
  private final RateLimitedLogger rateLimitedLog = new RateLimitedLogger(LOG);
  private final PeerLiveness contacts;
  private final Map<NodeId, Target> targets = new ConcurrentHashMap<>();
  private final Map<NodeId, Queues> queues = new ConcurrentHashMap<>();
  private final PeerMemory memory;
  private final AtomicLong messages = new AtomicLong(new SecureRandom().nextLong());

  private ArteryPeers(
      ActorSystem<?> system,
      PeerIdentity self,
      PeerDirectory directory,
      Duration silence,
      PeerMetrics metrics) {
    this.contacts = new PeerLiveness(UNRESPONSIVE_AFTER, silence, QUIET);
    this.metrics = metrics;
    this.self = self;
    this.directory = directory;
    ExtendedActorSystem classic = (ExtendedActorSystem) system.classicSystem();
    this.provider = classic.provider();
    this.admission = PeerPortExtension.of(classic).admission();
    this.memory = PeerPortExtension.of(classic).memory();
    this.admission.members(directory::isMembers);
    this.admission.urls(member -> directory.urlsOf(new NodeId(member)));
  }

  /**
   * Starts the inboxes as children of the guardian, whose context this is.
   *
   * @param silence a peer that sent nothing for so long counts as disconnected meanwhile
   * @param metrics what is counted
   * @param raft receives the messages of other members' raft actors, on the inbox's thread; never
   *     blocks
   * @param snapshots receives the messages of their snapshot actors
   */
  public static ArteryPeers start(
      ActorContext<?> guardian,
      PeerIdentity self,
      PeerDirectory directory,
      Duration silence,
      PeerMetrics metrics,
      Consumer<PeerEnvelope> raft,
      Consumer<PeerEnvelope> snapshots) {
    ArteryPeers peers = new ArteryPeers(guardian.getSystem(), self, directory, silence, metrics);
    guardian
        .getSystem()
        .eventStream()
        .tell(
            new EventStream.Subscribe<>(
                QuarantinedEvent.class, guardian.spawn(quarantines(), "peer-quarantines")));
    guardian.spawn(
        PeerInbox.create(
            self,
            directory,
            peers.contacts,
            metrics,
            PeerLimits.MAX_MESSAGE_BYTES,
            peers.memory.fragments(),
            peers::greet,
            raft),
        PeerConfig.RAFT_INBOX);
    guardian.spawn(
        PeerInbox.create(
            self,
            directory,
            peers.contacts,
            metrics,
            PeerLimits.MAX_MESSAGE_BYTES,
            peers.memory.fragments(),
            () -> {},
            snapshots),
        PeerConfig.SNAPSHOT_INBOX);
    return peers;
  }

  /**
   * Nothing here should ever bring one about; if Artery finds a reason, an operator has to know.
   */
  private static Behavior<QuarantinedEvent> quarantines() {
    return Behaviors.receiveMessage(
        event -> {
          LOG.error(
              "a peer is cut off until one of the two processes restarts, this one or the peer's;"
                  + " this should not happen address={}",
              event.uniqueAddress().address());
          return Behaviors.same();
        });
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
      send(to, target.raft(), queues(to).raft(), new PeerPayload.Raft(message));
    }
  }

  @Override
  public void send(NodeId to, SnapshotMessage message) {
    Target target = target(to);
    if (target != null) {
      send(to, target.snapshots(), queues(to).snapshots(), message);
    }
  }

  /** Tells all other members what this one's state did. */
  public void send(PeerPayload.StateDigest digest) {
    for (NodeId member : directory.members().keySet()) {
      Target target = member.equals(self.memberId()) ? null : target(member);
      if (target != null) {
        send(member, target.raft(), queues(member).raft(), digest);
      }
    }
  }

  /**
   * Greets members to which nothing went for a while: they learn that this one is there, perhaps at
   * a new address, and since when the connection holds. Followers send each other nothing else.
   */
  private void greet() {
    long now = System.nanoTime();
    contacts.check(now);
    for (Queues each : queues.values()) {
      each.raft().forgetUnused(now, UNUSED);
      each.snapshots().forgetUnused(now, UNUSED);
    }
    for (NodeId member : directory.members().keySet()) {
      if (!member.equals(self.memberId()) && !contacts.toldWithin(member, GREETING, now)) {
        Target target = target(member);
        if (target != null) {
          send(member, target.raft(), queues(member).raft(), new PeerPayload.Hello());
        }
      }
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

  private Queues queues(NodeId to) {
    Queues known = queues.get(to);
    return known != null
        ? known
        : queues.computeIfAbsent(
            to,
            unknown ->
                new Queues(
                    new OutboundQueue(memory.outbound()), new OutboundQueue(memory.outbound())));
  }

  private void send(NodeId to, ActorRef inbox, OutboundQueue queue, PeerPayload payload) {
    contacts.told(to, System.nanoTime());
    PeerEnvelope envelope =
        new PeerEnvelope(self.clusterId(), self.memberId(), to, self.url(), payload);
    long size = PeerCodec.sizeAtMost(envelope);
    if (!queue.admits(size)) {
      metrics.sendFailed(to.value());
      rateLimitedLog.warn(
          "dropped a message to another member, too much waits for members that take nothing;",
          "remote-peer-id=" + to + " bytes=" + size + " waiting-bytes=" + queue.bytes());
      return;
    }
    metrics.sent(to.value(), size);
    if (contacts.isAway(to)) {
      metrics.sendFailed(to.value());
    }
    if (size <= PIECE_BYTES) {
      synchronized (queue) {
        tell(inbox, queue.enter(envelope, size));
      }
      return;
    }
    byte[] encoded = PeerCodec.encode(envelope);
    List<PeerFragment> pieces =
        PeerCodec.cut(envelope, encoded, messages.incrementAndGet(), PIECE_BYTES);
    // Two threads send; their pieces must not mix.
    synchronized (queue) {
      pieces.forEach(piece -> tell(inbox, queue.enter(piece, piece.data().length())));
    }
  }

  private static void tell(ActorRef inbox, OutboundQueue.Outgoing frame) {
    inbox.tell(frame, ActorRef.noSender());
  }

  private @Nullable Target target(NodeId to) {
    String url = directory.urlOf(to);
    if (url == null) {
      LOG.debug("no address of peer={}", to);
      metrics.sendFailed(to.value());
      return null;
    }
    Target target = targets.get(to);
    if (target == null || !target.url().equals(url)) {
      target = resolve(url);
      if (target != null) {
        targets.put(to, target);
      }
    }
    return target;
  }

  private @Nullable Target resolve(String url) {
    try {
      PeerAddress address = PeerAddress.of(url);
      if (PeerAddress.isTls(url) != PeerAddress.isTls(self.url())) {
        rateLimitedLog.warn(
            "members cannot talk, one speaks TLS and the other does not;",
            "here=" + self.url() + " there=" + url);
        return null;
      }
      if (!admission.isKnown(address)) {
        LOG.debug("ignored address without handshake, named by an unknown peer url={}", url);
        return null;
      }
      return new Target(
          url,
          provider.resolveActorRef(address.pathOf(PeerConfig.RAFT_INBOX)),
          provider.resolveActorRef(address.pathOf(PeerConfig.SNAPSHOT_INBOX)));
    } catch (IllegalArgumentException e) {
      LOG.debug("bad address url={} reason={}", url, e.getMessage());
      return null;
    }
  }
}
