package io.troupe.actors.peers;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.AbstractExtensionId;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.Extension;
import org.apache.pekko.actor.ExtensionId;
import org.apache.pekko.actor.ExtensionIdProvider;
import org.apache.pekko.io.TcpMessage;
import org.apache.pekko.remote.artery.tcp.ArteryTcpTransport;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.util.ByteString;
import org.slf4j.LoggerFactory;
import scala.concurrent.Future;
import scala.concurrent.Future$;

/**
 * Puts a {@link PeerGate} before Artery. Pekko has no setting for that: the way of each new
 * connection into Artery stands in a private field, which is replaced (docs/decisions/0105).
 * Started with the actor system, as {@code troupe-peers.conf} says.
 */
public final class PeerGates extends AbstractExtensionId<PeerGates.Installed>
    implements ExtensionIdProvider {
  private static final PeerGates INSTANCE = new PeerGates();
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final VarHandle WAY;

  static {
    try {
      WAY =
          MethodHandles.privateLookupIn(ArteryTcpTransport.class, MethodHandles.lookup())
              .findVarHandle(ArteryTcpTransport.class, "inboundConnectionFlow", Future.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** For Pekko; use {@link #of}. */
  public PeerGates() {}

  /** That of an actor system with remoting. */
  static Installed of(ExtendedActorSystem system) {
    return INSTANCE.get(system);
  }

  @Override
  public ExtensionId<? extends Extension> lookup() {
    return INSTANCE;
  }

  @Override
  public Installed createExtension(ExtendedActorSystem system) {
    return new Installed(system);
  }

  /** The gates of one actor system. */
  public static final class Installed implements Extension {
    private final PeerAdmission admission;
    private final PeerConnections connections;
    private final PeerGate gate;
    private final ArteryTcpTransport transport;
    private volatile Future<?> guarded;

    private Installed(ExtendedActorSystem system) {
      transport = Termination.transport(system);
      Address self = transport.defaultAddress();
      admission =
          new PeerAdmission(
              new PeerAddress(self.getHost().orElseThrow(), self.getPort().orElseThrow()),
              System.nanoTime());
      RareLog log = new RareLog(LoggerFactory.getLogger(PeerGate.class));
      connections = new PeerConnections(log);
      gate =
          new PeerGate(
              new FrameRules(self, admission),
              connections,
              log,
              transport.settings().Advanced().MaximumFrameSize());
      guarded = guard();
      endUnguarded(system);
      // Artery makes the way anew if the rooms behind it had to be begun anew.
      system.scheduler().scheduleWithFixedDelay(LOOK, LOOK, this::look, system.dispatcher());
    }

    /**
     * Ends the connections that came between the opening of the port and the gate: nothing was
     * checked of them, and what is known of their handshakes is not known here. Whoever opened them
     * opens them again. Nothing else uses TCP yet; who listens does not know the message.
     */
    private static void endUnguarded(ExtendedActorSystem system) {
      system
          .actorSelection("/system/IO-TCP/selectors/*/*")
          .tell(TcpMessage.abort(), ActorRef.noSender());
    }

    PeerAdmission admission() {
      return admission;
    }

    PeerConnections connections() {
      return connections;
    }

    private void look() {
      if (WAY.getVolatile(transport) != guarded) {
        guarded = guard();
      }
    }

    @SuppressWarnings("unchecked") // The field's type.
    private Future<?> guard() {
      Future<org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, NotUsed>> way =
          (Future<org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, NotUsed>>)
              WAY.getVolatile(transport);
      Future<?> made =
          Future$.MODULE$.successful(
              Flow.fromGraph(gate).via(way.value().get().get().asJava()).asScala());
      WAY.setVolatile(transport, made);
      return made;
    }
  }
}
