package io.troupe.actors.peers;

import io.troupe.actors.peers.OutboundQueue.Outgoing;
import io.troupe.metrics.RateLimitedLogger;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerGreeting;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.PeerResponder;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.codec.QueryCodec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queries to other members, addressed only by the peer URL, because a joining member does not know
 * the IDs of the members yet. Thread-safe.
 */
public final class SocketQueries implements PeerQueries {
  private static final Logger LOG = LoggerFactory.getLogger(SocketQueries.class);

  /** Name of the actor for queries between members outside of Raft. */
  private static final String ACTOR = "peer-queries";

  /** Peer URLs with a link; a further one replaces the link that was used least recently. */
  private static final int MAX_LINKS = 128;

  /** Queries and replies of other members that wait for the actor. */
  private static final int MAX_WAITING = 4096;

  /** Bytes of a query; its reply may be longer. */
  private static final long QUERY_BYTES = 1024;

  private final PeerNetwork network;
  private final PeerDirectory directory;
  private final String url;
  private final RateLimitedLogger rateLimitedLog = new RateLimitedLogger(LOG);
  private final Map<String, PeerLink> links =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, PeerLink> eldest) {
          if (size() > MAX_LINKS) {
            network.unlink(eldest.getValue());
            return true;
          }
          return false;
        }
      };
  private final AtomicInteger waiting = new AtomicInteger();
  private final ActorRef<QueryFrame> actor;
  private volatile @Nullable PeerIdentity self;

  private SocketQueries(
      ActorContext<?> guardian, PeerNetwork network, PeerDirectory directory, String url) {
    this.network = network;
    this.directory = directory;
    this.url = url;
    this.actor = guardian.spawn(PeerQueryActor.create(directory, url, this::send), ACTOR);
  }

  /**
   * Serves the channel QUERY of the network, with an actor that is a child of the guardian, whose
   * context this is.
   *
   * @param directory contains the removed members
   * @param url peer URL of this member
   */
  public static SocketQueries start(
      ActorContext<?> guardian, PeerNetwork network, PeerDirectory directory, String url) {
    SocketQueries queries = new SocketQueries(guardian, network, directory, url);
    network.serve(PeerChannel.QUERY, queries.new Receiver());
    return queries;
  }

  private void send(String to, QueryFrame frame) {
    Outgoing message =
        frame instanceof QueryFrame.Query question
            ? new Outgoing(Frames.QUERY, QUERY_BYTES, () -> QueryCodec.encode(question))
            : reply((QueryFrame.Reply) frame);
    try {
      if (!link(to).send(message)) {
        LOG.debug("dropped a query or reply, too many wait url={}", to);
      }
    } catch (IllegalArgumentException e) {
      LOG.debug("bad address url={} reason={}", to, e.getMessage());
    }
  }

  private static Outgoing reply(QueryFrame.Reply reply) {
    return new Outgoing(
        Frames.QUERY_REPLY, QueryCodec.sizeAtMost(reply.answer()), () -> QueryCodec.encode(reply));
  }

  private PeerLink link(String to) {
    synchronized (links) {
      return links.computeIfAbsent(to, this::newLink);
    }
  }

  private PeerLink newLink(String to) {
    PeerAddress first = PeerAddress.of(to);
    return network.link(
        () -> directory.addressesBeside(to, first), this::greeting, count -> {}, refused -> {});
  }

  private PeerGreeting greeting() {
    PeerIdentity known = self;
    return new PeerGreeting(
        GreetingRules.VERSION,
        GreetingRules.VERSION,
        known == null ? QueryFrame.NO_CLUSTER : known.clusterId(),
        known == null ? NodeId.NONE : known.memberId(),
        NodeId.NONE,
        url,
        PeerChannel.QUERY);
  }

  /** The identity of this member is known now. Before that, this actor only queries for members. */
  public void identified(PeerIdentity identity) {
    self = identity;
    // Connections whose greeting has no identity end: queries with one do not pass on them.
    synchronized (links) {
      links.values().forEach(network::unlink);
      links.clear();
    }
    actor.tell(new PeerQueryActor.Identified(identity));
  }

  /**
   * Sets the responder for queries of other members. Before that they get the reply NO_LEADER.
   *
   * @param responder called on the actor's thread; never blocks
   */
  public void serve(PeerResponder responder) {
    actor.tell(new PeerQueryActor.Serve(responder));
  }

  /**
   * {@inheritDoc}
   *
   * <p>Fails with a RefusedException TOO_MANY_REQUESTS if too many queries are in progress.
   */
  @Override
  public CompletionStage<PeerReply> ask(String peerUrl, PeerQuery query, Duration timeout) {
    CompletableFuture<PeerReply> answer = new CompletableFuture<>();
    actor.tell(new PeerQueryActor.Ask(peerUrl, query, timeout, answer));
    return answer;
  }

  /** Receives queries and replies of other members. The query actor checks their clusters. */
  private final class Receiver implements PeerReceiver {
    @Override
    public @Nullable String refusal(PeerGreeting greeting) {
      return null;
    }

    @Override
    public PeerGreeting.Reply reply(int version) {
      PeerIdentity known = self;
      return PeerGreeting.Reply.accepted(
          version,
          known == null ? QueryFrame.NO_CLUSTER : known.clusterId(),
          known == null ? NodeId.NONE : known.memberId());
    }

    @Override
    public List<String> urlsOf(NodeId member) {
      return directory.urlsOf(member);
    }

    @Override
    public void message(PeerGreeting greeting, PeerEnvelope envelope, int bytes) {
      throw new IllegalStateException("no message comes on the channel " + greeting.channel());
    }

    @Override
    public void query(PeerGreeting greeting, QueryFrame frame) {
      if (frame instanceof QueryFrame.Query question
          && !(question.replyUrl().equals(greeting.fromUrl())
              && (question.from().isNone() || question.from().equals(greeting.from())))) {
        rateLimitedLog.warn(
            "query refused, it contradicts the greeting of its connection;",
            "remote-peer-id=" + greeting.from());
        return;
      }
      if (waiting.incrementAndGet() > MAX_WAITING) {
        waiting.decrementAndGet();
        rateLimitedLog.warn(
            "dropped a query or reply of another member, too many wait;",
            "remote-peer-id=" + greeting.from());
        return;
      }
      actor.tell(new PeerQueryActor.Received(frame, waiting::decrementAndGet));
    }

    @Override
    public void unreadable(PeerGreeting greeting, String reason) {
      rateLimitedLog.warn("query or reply of another member cannot be read:", reason);
    }
  }
}
