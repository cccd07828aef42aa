package io.troupe.actors.peers;

import io.troupe.protocol.PeerAnswer;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerResponder;
import io.troupe.protocol.QueryFrame;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.ActorRefProvider;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queries to other members over Pekko Artery, addressed only by the peer URL, because a joining
 * member does not know the ids of the members yet. Thread-safe.
 */
public final class ArteryQueries implements PeerQueries {
  private static final Logger LOG = LoggerFactory.getLogger(ArteryQueries.class);

  private final ActorRef<QueryFrame> actor;

  private ArteryQueries(ActorRef<QueryFrame> actor) {
    this.actor = actor;
  }

  /**
   * Starts the query actor as a child of the guardian, whose context this is.
   *
   * @param directory knows the removed members
   * @param url peer URL of this member
   */
  public static ArteryQueries start(ActorContext<?> guardian, PeerDirectory directory, String url) {
    ActorSystem<?> system = guardian.getSystem();
    ExtendedActorSystem classic = (ExtendedActorSystem) system.classicSystem();
    HandshakeFilter admission = PeerPortExtension.of(classic).admission();
    admission.members(directory::isMembers);
    return new ArteryQueries(
        guardian.spawn(
            PeerQueryActor.create(
                directory, url, (to, frame) -> send(classic.provider(), admission, to, frame)),
            PeerConfig.QUERIES));
  }

  /**
   * The reply address comes from the query, so replies go only to addresses whose handshake was
   * accepted.
   */
  private static void send(
      ActorRefProvider provider, HandshakeFilter admission, String url, QueryFrame frame) {
    try {
      PeerAddress to = PeerAddress.of(url);
      if (frame instanceof QueryFrame.Question) {
        admission.expect(to);
      } else if (!admission.isKnown(to)) {
        LOG.debug("no reply to an unknown peer url={}", url);
        return;
      }
      provider
          .resolveActorRef(to.pathOf(PeerConfig.QUERIES))
          .tell(frame, org.apache.pekko.actor.ActorRef.noSender());
    } catch (IllegalArgumentException e) {
      LOG.debug("bad address url={} reason={}", url, e.getMessage());
    }
  }

  /** The identity of this member is known now. Before that, this actor only queries for members. */
  public void identified(PeerIdentity self) {
    actor.tell(new PeerQueryActor.Identified(self));
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
  public CompletionStage<PeerAnswer> ask(String peerUrl, PeerQuery query, Duration timeout) {
    CompletableFuture<PeerAnswer> answer = new CompletableFuture<>();
    actor.tell(new PeerQueryActor.Ask(peerUrl, query, timeout, answer));
    return answer;
  }
}
