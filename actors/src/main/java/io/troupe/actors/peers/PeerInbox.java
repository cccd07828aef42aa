package io.troupe.actors.peers;

import io.troupe.metrics.PeerMetrics;
import io.troupe.metrics.RateLimitedLogger;
import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerFragment;
import io.troupe.protocol.PeerFrame;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.codec.PeerCodec;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes what other members send: lets in what is of this cluster and for this member, puts
 * fragments together, and hands on. What is refused is logged once for each sender and reason.
 *
 * <p>Members that left are let in: the core tells them that they did. So are members that this one
 * does not know yet (docs/decisions/0021).
 */
final class PeerInbox extends AbstractBehavior<PeerFrame> {
  private static final Logger LOG = LoggerFactory.getLogger(PeerInbox.class);
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final int MAX_LOGGED = 1000;
  private static final int MAX_SENDERS = 64;

  /** A sender that died between two pieces does not continue with them. */
  private static final Duration PIECES_APART = Duration.ofMinutes(1);

  /** Pieces of a message follow each other; one that stops for so long gives up its memory. */
  private static final Duration STALLED = Duration.ofSeconds(2);

  private enum Look implements PeerFrame.Private {
    INSTANCE
  }

  private record Complaint(long clusterId, NodeId from, String reason) {}

  private final PeerIdentity self;
  private final PeerDirectory directory;
  private final PeerLiveness contacts;
  private final PeerMetrics metrics;
  private final int maxMessageBytes;
  private final PeerMemory.Part memory;
  private final Runnable everySecond;
  private final Consumer<PeerEnvelope> sink;
  private final Map<NodeId, FragmentAssembly> assemblies = new HashMap<>();
  private final Set<Complaint> logged = new HashSet<>();
  private final RateLimitedLogger rateLimitedLog = new RateLimitedLogger(LOG);

  private PeerInbox(
      ActorContext<PeerFrame> context,
      PeerIdentity self,
      PeerDirectory directory,
      PeerLiveness contacts,
      PeerMetrics metrics,
      int maxMessageBytes,
      PeerMemory.Part memory,
      Runnable everySecond,
      Consumer<PeerEnvelope> sink) {
    super(context);
    this.metrics = metrics;
    this.everySecond = everySecond;
    this.self = self;
    this.directory = directory;
    this.contacts = contacts;
    this.maxMessageBytes = maxMessageBytes;
    this.memory = memory;
    this.sink = sink;
  }

  /**
   * An inbox.
   *
   * @param metrics what cannot be read is counted there
   * @param maxMessageBytes longest message that is put together
   * @param memory for messages that are not complete, of all inboxes
   * @param everySecond called now and once a second on this actor's thread; never blocks
   * @param sink gets what is let in, on this actor's thread; never blocks
   */
  static Behavior<PeerFrame> create(
      PeerIdentity self,
      PeerDirectory directory,
      PeerLiveness contacts,
      PeerMetrics metrics,
      int maxMessageBytes,
      PeerMemory.Part memory,
      Runnable everySecond,
      Consumer<PeerEnvelope> sink) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> {
                  timers.startTimerWithFixedDelay(Look.INSTANCE, Duration.ZERO, LOOK);
                  return new PeerInbox(
                      context,
                      self,
                      directory,
                      contacts,
                      metrics,
                      maxMessageBytes,
                      memory,
                      everySecond,
                      sink);
                }));
  }

  @Override
  public Receive<PeerFrame> createReceive() {
    return newReceiveBuilder()
        .onMessage(PeerEnvelope.class, this::onEnvelope)
        .onMessage(PeerFragment.class, this::onFragment)
        .onMessage(Unreadable.class, this::onUnreadable)
        .onMessageEquals(Look.INSTANCE, this::onLook)
        .onSignal(PostStop.class, stopped -> onStopped())
        .build();
  }

  private Behavior<PeerFrame> onStopped() {
    assemblies.values().forEach(FragmentAssembly::drop);
    return this;
  }

  private Behavior<PeerFrame> onUnreadable(Unreadable message) {
    metrics.receiveFailed();
    rateLimitedLog.warn("a message of another member cannot be read:", message.reason());
    return this;
  }

  private Behavior<PeerFrame> onLook() {
    long now = System.nanoTime();
    assemblies
        .values()
        .removeIf(
            assembly -> {
              boolean stale = assembly.isStale(now, PIECES_APART);
              if (stale) {
                assembly.drop();
              }
              return stale;
            });
    everySecond.run();
    return this;
  }

  private Behavior<PeerFrame> onEnvelope(PeerEnvelope envelope) {
    if (admits(envelope.clusterId(), envelope.from(), envelope.to())) {
      handOn(envelope);
    }
    return this;
  }

  private Behavior<PeerFrame> onFragment(PeerFragment piece) {
    if (!admits(piece.clusterId(), piece.from(), piece.to())) {
      return this;
    }
    FragmentAssembly assembly = assemblies.get(piece.from());
    if (assembly == null) {
      if (assemblies.size() >= MAX_SENDERS && !isMember(piece.from())) {
        complain(piece.clusterId(), piece.from(), "too many senders of long messages");
        return this;
      }
      assembly = new FragmentAssembly(maxMessageBytes, memory);
      assemblies.put(piece.from(), assembly);
    }
    if (piece.offset() == 0 && piece.total() > maxMessageBytes) {
      complain(piece.clusterId(), piece.from(), "message of " + piece.total() + " bytes");
    }
    if (!makeSpace(piece, assembly)) {
      assembly.drop();
      memory.refused();
      rateLimitedLog.warn(
          "dropped a message of another member, too much is incomplete on the peer port;",
          "remote-peer-id=" + piece.from() + " bytes=" + piece.total());
      return this;
    }
    Bytes whole = assembly.add(piece, System.nanoTime());
    PeerEnvelope envelope = whole == null ? null : decoded(whole, piece);
    if (envelope != null && !envelope.from().equals(piece.from())) {
      complain(piece.clusterId(), piece.from(), "its pieces name another sender");
    } else if (envelope != null && admits(envelope.clusterId(), envelope.from(), envelope.to())) {
      handOn(envelope);
    }
    return this;
  }

  /**
   * Takes memory for a piece. If there is none, messages of senders that are no members make space
   * for those of members, and messages that came to a halt for all; else the newest one is dropped,
   * so that others are completed. A member may continue alone whatever its message needs: a
   * committed entry must reach a member with less memory than its leader.
   */
  private boolean makeSpace(PeerFragment piece, FragmentAssembly assembly) {
    int needed = assembly.needs(piece);
    boolean fits = needed == 0 || memory.tryTake(needed);
    while (!fits && dropOther(piece.from())) {
      fits = memory.tryTake(needed);
    }
    if (!fits && isMember(piece.from()) && memory.taken() == assembly.heldBytes()) {
      memory.change(needed);
      return true;
    }
    return fits;
  }

  private boolean dropOther(NodeId newest) {
    long now = System.nanoTime();
    boolean member = isMember(newest);
    FragmentAssembly longest = null;
    for (Map.Entry<NodeId, FragmentAssembly> each : assemblies.entrySet()) {
      FragmentAssembly other = each.getValue();
      if (each.getKey().equals(newest)
          || other.heldBytes() == 0
          || !((member && !isMember(each.getKey())) || other.isStale(now, STALLED))) {
        continue;
      }
      if (longest == null || now - other.lastNanos() > now - longest.lastNanos()) {
        longest = other;
      }
    }
    if (longest == null) {
      return false;
    }
    longest.drop();
    memory.refused();
    return true;
  }

  private boolean isMember(NodeId sender) {
    return directory.isMember(sender);
  }

  private @Nullable PeerEnvelope decoded(Bytes whole, PeerFragment last) {
    try {
      return PeerCodec.decode(whole);
    } catch (IOException e) {
      metrics.receiveFailed(last.from().value());
      complain(last.clusterId(), last.from(), "message that cannot be read: " + e.getMessage());
      return null;
    }
  }

  private void handOn(PeerEnvelope envelope) {
    contacts.heard(envelope.from(), System.nanoTime());
    directory.learn(envelope.from(), envelope.fromUrl());
    if (!(envelope.payload() instanceof PeerPayload.Hello)) {
      sink.accept(envelope);
    }
  }

  private boolean admits(long clusterId, NodeId from, NodeId to) {
    if (clusterId != self.clusterId()) {
      return complain(clusterId, from, "it is of another cluster");
    }
    if (from.isNone() || from.equals(self.memberId())) {
      return complain(clusterId, from, "it claims to be this member");
    }
    if (!to.equals(self.memberId())) {
      return complain(clusterId, from, "it is for member " + to);
    }
    if (directory.isRemoved(from)) {
      complainOnce(clusterId, from, "message of a removed member");
    }
    return true;
  }

  private boolean complain(long clusterId, NodeId from, String reason) {
    complainOnce(clusterId, from, "message refused, " + reason);
    return false;
  }

  private void complainOnce(long clusterId, NodeId from, String text) {
    if (logged.size() < MAX_LOGGED && logged.add(new Complaint(clusterId, from, text))) {
      LOG.warn("{} peer={} cluster-id={}", text, from, Long.toHexString(clusterId));
    }
  }
}
