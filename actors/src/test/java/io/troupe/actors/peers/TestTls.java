package io.troupe.actors.peers;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * TLS with one of the certificates under {@code tls}, which trusts only itself and is for the
 * loopback. Made by {@code keytool -genkeypair -alias own -keyalg EC -dname CN=... -ext
 * san=ip:127.0.0.1,dns:localhost -validity 36500 -storetype PKCS12}.
 */
public final class TestTls implements PeerTls {
  /** Name of a certificate that the members do not trust. */
  static final String UNKNOWN = "unknown";

  private static final char[] PASSWORD = "troupe".toCharArray();
  private static final int SESSIONS = 1024;

  private volatile SSLContext context;
  private volatile @Nullable String boundHost;
  private volatile CompletionStage<Void> check = CompletableFuture.completedFuture(null);

  private final AtomicLong handshakes = new AtomicLong();
  private volatile SSLContext serving;

  /** With the certificate of that name. */
  public TestTls(String name) {
    this(name, name);
  }

  /** With a certificate; as a server it trusts another one. */
  TestTls(String name, String trustedByServer) {
    context = context(name, name);
    serving = context(name, trustedByServer);
  }

  /** Another certificate for connections from now on. */
  void replace(String name) {
    context = context(name, name);
    serving = context;
  }

  private static KeyStore store(String name) throws IOException, GeneralSecurityException {
    try (InputStream file =
        TestTls.class.getClassLoader().getResourceAsStream("tls/" + name + ".p12")) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(Objects.requireNonNull(file), PASSWORD);
      return store;
    }
  }

  private static SSLContext context(String name, String trust) {
    try {
      KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
      keys.init(store(name), PASSWORD);
      TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
      trusted.init(store(trust));
      SSLContext made = SSLContext.getInstance("TLS");
      made.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
      // As members have it: what a test counts as kept shall not be these.
      made.getServerSessionContext().setSessionCacheSize(SESSIONS);
      made.getClientSessionContext().setSessionCacheSize(SESSIONS);
      return made;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Connections of a client that shows the certificate. */
  public SSLSocketFactory sockets() {
    return context.getSocketFactory();
  }

  @Override
  public SSLSocket server(Socket accepted) throws IOException {
    handshakes.incrementAndGet();
    SSLSocket socket = (SSLSocket) serving.getSocketFactory().createSocket(accepted, null, false);
    socket.setUseClientMode(false);
    socket.setNeedClientAuth(true);
    return socket;
  }

  @Override
  public SSLSocket client(Socket connected, String host, int port) throws IOException {
    SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket(connected, host, port, true);
    socket.setUseClientMode(true);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    socket.setSSLParameters(parameters);
    return socket;
  }

  /** First message of a handshake of a client with this certificate. */
  byte[] clientHello() throws SSLException {
    SSLEngine engine = context.createSSLEngine("127.0.0.1", 1);
    engine.setUseClientMode(true);
    ByteBuffer bytes = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), bytes);
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  /** Accepted connections that were secured. */
  public long handshakes() {
    return handshakes.get();
  }

  /** What is said about the addresses of connections from now on; at first that they are good. */
  void checks(CompletionStage<Void> next) {
    check = next;
  }

  /** From now on the certificates of others are for that host alone. */
  TestTls binding(String host) {
    boundHost = host;
    return this;
  }

  @Override
  public boolean bindsMembers() {
    return boundHost != null;
  }

  @Override
  public boolean isFor(SSLSession session, String host) {
    return host.equals(boundHost);
  }

  @Override
  public CompletionStage<Void> checkAddress(SSLSession session, @Nullable InetAddress from) {
    return check;
  }
}
