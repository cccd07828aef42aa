package io.troupe.tests.hostile;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.troupe.tests.malformed.TlsSide;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * A client port of 127.0.0.1, with or without TLS.
 *
 * @param tls of clients on sockets; null if the port is plain
 * @param credentials of clients of gRPC
 */
record Target(int port, @Nullable SSLContext tls, ChannelCredentials credentials) {
  private static final int TIMEOUT_MS = 60_000;
  private static final String ADDRESS = "127.0.0.1";

  /** Without TLS. */
  static Target plain(int port) {
    return new Target(port, null, InsecureChannelCredentials.create());
  }

  /**
   * With the clients that trust its certificate.
   *
   * @param tls null: without TLS
   */
  static Target of(int port, @Nullable TlsSide tls) throws GeneralSecurityException, IOException {
    return tls == null ? plain(port) : new Target(port, tls.client(), tls.credentials());
  }

  /**
   * A TCP connection on which nothing has been sent. Reads time out after 60 s.
   *
   * @param receiveBytes size of its receive buffer; 0 for the usual one
   */
  Socket dial(int receiveBytes) throws IOException {
    Socket socket = new Socket();
    if (receiveBytes > 0) {
      socket.setReceiveBufferSize(receiveBytes);
    }
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MS);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MS);
    return socket;
  }

  /**
   * TLS over a connection, after its handshake; the connection itself if the port is plain.
   *
   * @param protocol that the client offers
   * @throws SocketException if the member closes the connection
   */
  Socket secured(Socket dialed, String protocol) throws IOException {
    if (tls == null) {
      return dialed;
    }
    try {
      SSLSocket socket =
          (SSLSocket) tls.getSocketFactory().createSocket(dialed, ADDRESS, port, true);
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {protocol});
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      return socket;
    } catch (SSLException refused) {
      dialed.close();
      throw closed(refused);
    }
  }

  /** Java reports a closed TLS connection with several exceptions. */
  static SocketException closed(SSLException reported) {
    SocketException closed = new SocketException("closed by the member");
    closed.initCause(reported);
    return closed;
  }

  /** TLS of a client before its handshake. */
  SSLEngine engine() {
    if (tls == null) {
      throw new IllegalStateException("the port has no TLS");
    }
    SSLEngine engine = tls.createSSLEngine(ADDRESS, port);
    engine.setUseClientMode(true);
    return engine;
  }

  /** A channel that takes responses of all sizes; closed by the caller. */
  ManagedChannel channel() {
    return Grpc.newChannelBuilder(ADDRESS + ":" + port, credentials)
        .maxInboundMessageSize(Integer.MAX_VALUE)
        .build();
  }

  /** A client of HTTP/1.1. */
  HttpClient http() {
    HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
    return tls == null ? builder.build() : builder.sslContext(tls).build();
  }

  URI uri(String path) {
    return URI.create((tls == null ? "http" : "https") + "://" + ADDRESS + ":" + port + path);
  }
}
