package io.troupe.actors.peers;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.apache.pekko.actor.setup.Setup;
import org.apache.pekko.remote.artery.tcp.SSLEngineProvider;
import org.apache.pekko.remote.artery.tcp.SSLEngineProviderSetup;
import org.slf4j.LoggerFactory;
import scala.Option;

/** Hands engines to Artery. All that is verified is verified in the handshake. */
public final class PeerTls implements SSLEngineProvider {
  private final RareLog log = new RareLog(LoggerFactory.getLogger(PeerTls.class));
  private final PeerEngines engines;

  private PeerTls(PeerEngines engines) {
    this.engines = engines;
  }

  /** To be given to the actor system with a configuration that is made for TLS. */
  public static Setup setup(PeerEngines engines) {
    return SSLEngineProviderSetup.create(system -> new PeerTls(engines));
  }

  /** An engine for whoever connects. */
  @Override
  public SSLEngine createServerSSLEngine(String hostname, int port) {
    return new WatchedEngine(
        engines.server(),
        failure ->
            log.warn("TLS connection to the peer port refused:", "reason=" + quoted(failure)));
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

  private static String quoted(SSLException failure) {
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
}
