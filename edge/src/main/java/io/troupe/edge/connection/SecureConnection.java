package io.troupe.edge.connection;

import io.troupe.metrics.LogRateLimit;
import java.io.EOFException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.stream.IgnoreComplete$;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.SharedKillSwitch;
import org.apache.pekko.stream.TLSProtocol.SendBytes;
import org.apache.pekko.stream.TLSProtocol.SessionBytes;
import org.apache.pekko.stream.TLSProtocol.SslTlsInbound;
import org.apache.pekko.stream.TLSProtocol.SslTlsOutbound;
import org.apache.pekko.stream.javadsl.BidiFlow;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.TLS;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * One connection with TLS, from its first byte: the handshake has a time limit (TL4), and failed
 * handshakes are logged with the client.
 */
final class SecureConnection {
  private static final Logger LOG = LoggerFactory.getLogger(SecureConnection.class);

  private static final Duration HANDSHAKE_LIMIT = Duration.ofSeconds(10);
  private static final String HTTP2 = "h2";
  private static final String HTTP1 = "http/1.1";

  private final SecureListener listener;
  private final ClientConnection accepted;
  private final String client;
  private final SharedKillSwitch killSwitch = KillSwitches.shared("handshake");
  private final AtomicBoolean handshaking = new AtomicBoolean(true);
  private final AtomicBoolean checking = new AtomicBoolean();
  private final CompletableFuture<Void> allowed = new CompletableFuture<>();
  private volatile @Nullable SSLEngine engine;
  private volatile @Nullable Cancellable limit;
  private volatile @Nullable String commonName;
  private volatile @Nullable SSLException cutFor;

  /** An accepted connection. */
  SecureConnection(SecureListener listener, ClientConnection accepted) {
    this.listener = listener;
    this.accepted = accepted;
    this.client = accepted.client();
  }

  /**
   * The bytes of the connection, with the time limit of the handshake. Materialize it once,
   * immediately.
   */
  Flow<ByteString, ByteString, NotUsed> limited() {
    limit =
        listener
            .system()
            .scheduler()
            .scheduleOnce(HANDSHAKE_LIMIT, this::timedOut, listener.system().executionContext());
    BidiFlow<ByteString, ByteString, ByteString, ByteString, NotUsed> cut =
        BidiFlow.fromFlows(killSwitch.flow(), killSwitch.flow());
    return cut.join(accepted.bytes());
  }

  /** Decrypts those bytes. Materialize it once. */
  BidiFlow<ByteString, ByteString, ByteString, ByteString, NotUsed> decrypting() {
    BidiFlow<ByteString, SslTlsOutbound, SslTlsInbound, ByteString, NotUsed> text =
        BidiFlow.fromFlows(Flow.<ByteString>create().map(SendBytes::new), received());
    return text.atop(TLS.create(this::newEngine, this::handshaken, IgnoreComplete$.MODULE$));
  }

  /** The connection starts without TLS, so there is no handshake. */
  void isPlain() {
    established();
  }

  private Flow<SslTlsInbound, ByteString, NotUsed> received() {
    Flow<SslTlsInbound, ByteString, NotUsed> decrypted =
        Flow.<SslTlsInbound>create()
            // Other elements report a close without close_notify; the completion follows.
            .collectType(SessionBytes.class)
            .<ByteString>map(
                part -> {
                  established();
                  return part.bytes();
                });
    if (listener.checksAddress()) {
      decrypted = decrypted.mapAsync(1, part -> allowed.thenApply(done -> part));
    }
    return decrypted.watchTermination(
        (before, end) -> {
          end.whenComplete((done, failure) -> ended(failure));
          return NotUsed.getInstance();
        });
  }

  private SSLEngine newEngine() {
    SSLEngine made = listener.security().engine();
    made.setHandshakeApplicationProtocolSelector((any, offered) -> chosen(offered));
    engine = made;
    return made;
  }

  /** T1; null rejects the client. The first bytes also distinguish the two protocols. */
  private @Nullable String chosen(List<String> offered) {
    if (offered.contains(HTTP2)) {
      return HTTP2;
    }
    return offered.contains(HTTP1) && !listener.onlyGrpc() ? HTTP1 : null;
  }

  /**
   * Called after the handshake, before any element is passed on; an exception closes the
   * connection.
   */
  private void handshaken(SSLSession session) {
    SSLEngine made = engine;
    if (listener.onlyGrpc() && made != null && !HTTP2.equals(made.getApplicationProtocol())) {
      throw new CompletionException(
          new SSLException("cannot check peer: missing selected ALPN property"));
    }
    established();
    if (listener.checksAddress() && checking.compareAndSet(false, true)) {
      checkAddress(session);
    }
  }

  private void checkAddress(SSLSession session) {
    if (accepted.address() == null) {
      // A client of a unix socket has no address.
      allowed.complete(null);
      return;
    }
    listener
        .security()
        .checkAddress(session, accepted.address().getAddress())
        .whenComplete(
            (done, refused) -> {
              if (refused == null) {
                allowed.complete(null);
              } else {
                rejected(refused);
                allowed.completeExceptionally(refused);
                killSwitch.abort(refused);
              }
            });
  }

  /** True for the first call. */
  private boolean established() {
    if (!handshaking.get() || !handshaking.compareAndSet(true, false)) {
      return false;
    }
    Cancellable timer = limit;
    if (timer != null) {
      timer.cancel();
    }
    listener.handshakeEnded(this);
    return true;
  }

  private void timedOut() {
    cut("TLS handshake not completed within " + HANDSHAKE_LIMIT.toSeconds() + " s");
  }

  /** Closes the connection if its handshake is still in progress. */
  void cut(String reason) {
    if (handshaking.get()) {
      SSLException why = new SSLException(reason);
      cutFor = why;
      killSwitch.abort(why);
    }
  }

  /** Handles the end of the connection, and of its handshake if that is still in progress. */
  void ended(@Nullable Throwable failure) {
    if (established()) {
      // After {@link #cut}, the failure has any form.
      SSLException own = cutFor;
      Throwable reason = own == null ? failure : own;
      rejected(reason == null ? new EOFException("closed by the client") : reason);
    }
  }

  /**
   * Logs a rejected connection with etcd's text; a client that only probes the port is logged at
   * debug level.
   */
  private void rejected(Throwable thrown) {
    Throwable failure =
        thrown instanceof CompletionException && thrown.getCause() != null
            ? thrown.getCause()
            : thrown;
    boolean silent = failure instanceof EOFException;
    long suppressed = silent ? 0 : listener.rejected();
    if (suppressed == LogRateLimit.SUPPRESSED) {
      return;
    }
    String reason = failure.getMessage() == null ? failure.toString() : failure.getMessage();
    LOG.atLevel(silent ? Level.DEBUG : Level.WARN)
        .log(
            "rejected connection on client endpoint"
                + " remote-addr={} server-name={} error={} suppressed={}",
            client,
            serverName(),
            reason,
            suppressed);
  }

  /** The server name that the client requested; empty if there is none. */
  private String serverName() {
    SSLEngine made = engine;
    SSLSession session = made == null ? null : made.getHandshakeSession();
    if (session == null && made != null) {
      session = made.getSession();
    }
    if (session instanceof ExtendedSSLSession extended) {
      for (SNIServerName name : requested(extended)) {
        if (name instanceof SNIHostName host) {
          return host.getAsciiName();
        }
      }
    }
    return "";
  }

  private static List<SNIServerName> requested(ExtendedSSLSession session) {
    try {
      return session.getRequestedServerNames();
    } catch (UnsupportedOperationException none) {
      // The handshake of the session did not complete.
      return List.of();
    }
  }

  /** The user of calls without a token (A14); null if certificates are not logins here. */
  @Nullable String login() {
    return listener.security().isLogin() ? commonName() : null;
  }

  /**
   * Common name of the client's certificate, empty if it has none; null if the client sent none.
   */
  private @Nullable String commonName() {
    String known = commonName;
    SSLEngine made = engine;
    if (known == null && made != null) {
      known = listener.security().commonName(made.getSession());
      commonName = known;
    }
    return known;
  }
}
