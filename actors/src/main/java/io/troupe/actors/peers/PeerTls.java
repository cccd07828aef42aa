package io.troupe.actors.peers;

import io.troupe.metrics.RateLimitedLogger;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import org.apache.pekko.actor.setup.Setup;
import org.apache.pekko.remote.artery.tcp.SSLEngineProvider;
import org.apache.pekko.remote.artery.tcp.SSLEngineProviderSetup;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Hands engines to Artery for connections to others, and to {@link PeerPort} for those that others
 * open. All that is verified is verified in the handshake, but for the address that a certificate
 * comes from.
 */
public final class PeerTls implements SSLEngineProvider {
  /** etcd's text. */
  private static final String REJECTED = "rejected connection on peer endpoint";

  private final RateLimitedLogger log =
      new RateLimitedLogger(LoggerFactory.getLogger(PeerTls.class));
  private final PeerEngines engines;

  private PeerTls(PeerEngines engines) {
    this.engines = engines;
  }

  /** To be given to the actor system with a configuration that is made for TLS. */
  public static Setup setup(PeerEngines engines) {
    return SSLEngineProviderSetup.create(system -> new PeerTls(engines));
  }

  /** TLS of a connection that a peer opens. */
  Incoming incoming(InetSocketAddress from) {
    return new Incoming(from);
  }

  /**
   * Artery's own port, which is open for a moment and accepts no connection: see {@link PeerPort}.
   */
  @Override
  public SSLEngine createServerSSLEngine(String hostname, int port) {
    throw new IllegalStateException("this port accepts no connections");
  }

  @Override
  public SSLEngine createClientSSLEngine(String hostname, int port) {
    return new WatchedEngine(
        engines.client(hostname, port),
        failure ->
            log.warn(
                "TLS connection to another member failed:",
                "member=" + hostname + ":" + port + " reason=" + quoted(failure)));
  }

  private static String quoted(Throwable failure) {
    return '"' + String.valueOf(failure.getMessage()) + '"';
  }

  @Override
  public Option<Throwable> verifyClientSession(String hostname, SSLSession session) {
    return Option.empty();
  }

  @Override
  public Option<Throwable> verifyServerSession(String hostname, SSLSession session) {
    return Option.empty();
  }

  /** TLS of one connection that a peer opened. */
  final class Incoming {
    private final InetSocketAddress from;
    private final AtomicBoolean checking = new AtomicBoolean();
    private final CompletableFuture<Void> admitted = new CompletableFuture<>();
    private volatile @Nullable SSLSession session;

    private Incoming(InetSocketAddress from) {
      this.from = from;
    }

    SSLEngine engine() {
      return new WatchedEngine(
          engines.server(),
          failure ->
              log.warn(
                  REJECTED + " in the TLS handshake",
                  REJECTED,
                  "remote-addr=" + shown() + " error=" + quoted(failure)));
    }

    /** Its handshake is over; another one on the same connection changes nothing. */
    void handshaken(SSLSession made) {
      if (checking.compareAndSet(false, true)) {
        session = made;
        engines.checkAddress(made, from.getAddress()).whenComplete(this::checked);
      }
    }

    private void checked(@Nullable Void done, @Nullable Throwable failure) {
      if (failure == null) {
        admitted.complete(null);
        return;
      }
      Throwable refused =
          failure instanceof CompletionException && failure.getCause() != null
              ? failure.getCause()
              : failure;
      log.warn(REJECTED, "remote-addr=" + shown() + " error=" + quoted(refused));
      admitted.completeExceptionally(refused);
    }

    /** The members that its certificate is valid for; used once it is admitted. */
    PeerCertificate certificate() {
      return engines.bindsMembers() ? this::isFor : PeerCertificate.ANY;
    }

    private boolean isFor(String host) {
      SSLSession shown = session;
      return shown != null && engines.isFor(shown, host);
    }

    /** Completes when the peer's messages may be handled; fails, and is logged, if they may not. */
    CompletionStage<Void> admitted() {
      return admitted;
    }

    private String shown() {
      return from.getAddress().getHostAddress() + ":" + from.getPort();
    }
  }
}
