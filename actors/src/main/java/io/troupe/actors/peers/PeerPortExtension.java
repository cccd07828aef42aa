package io.troupe.actors.peers;

import com.typesafe.config.Config;
import io.troupe.metrics.RateLimitedLogger;
import org.apache.pekko.actor.AbstractExtensionId;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.Extension;
import org.apache.pekko.actor.ExtensionId;
import org.apache.pekko.actor.ExtensionIdProvider;
import org.apache.pekko.remote.artery.tcp.ArteryTcpTransport;
import org.slf4j.LoggerFactory;

/**
 * Opens the port for other members, with a {@link PeerFrameFilter} before Artery in each connection
 * (docs/decisions/0105). Started with the actor system, as {@code troupe-peers.conf} says.
 */
public final class PeerPortExtension extends AbstractExtensionId<PeerPortExtension.Installed>
    implements ExtensionIdProvider {
  private static final PeerPortExtension INSTANCE = new PeerPortExtension();

  /** For Pekko; use {@link #of}. */
  public PeerPortExtension() {}

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
    private final HandshakeFilter admission;
    private final PeerConnections connections;
    private final PeerMemory memory;

    private Installed(ExtendedActorSystem system) {
      ArteryTcpTransport transport = Termination.transport(system);
      Address self = transport.defaultAddress();
      long now = System.nanoTime();
      admission =
          new HandshakeFilter(
              new PeerAddress(self.getHost().orElseThrow(), self.getPort().orElseThrow()), now);
      Config config = system.settings().config();
      memory = PeerMemory.of(config);
      RateLimitedLogger log = new RateLimitedLogger(LoggerFactory.getLogger(PeerFrameFilter.class));
      connections = new PeerConnections(log);
      FrameRules rules = new FrameRules(self, admission);
      int maxFrameBytes = transport.settings().Advanced().MaximumFrameSize();
      new PeerPort(
              system,
              transport,
              new HandshakeLimit(now),
              log,
              (certificate, admitted, memberSpoke) ->
                  new PeerFrameFilter(
                      rules,
                      connections,
                      memory.frames(),
                      log,
                      maxFrameBytes,
                      certificate,
                      admitted,
                      memberSpoke))
          .open(
              config.getString(PeerConfig.PORT_HOST),
              config.getInt(PeerConfig.PORT_NUMBER),
              config.getDuration("pekko.remote.artery.bind.bind-timeout"));
    }

    HandshakeFilter admission() {
      return admission;
    }

    PeerMemory memory() {
      return memory;
    }

    PeerConnections connections() {
      return connections;
    }
  }
}
