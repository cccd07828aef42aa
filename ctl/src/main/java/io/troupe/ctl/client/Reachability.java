package io.troupe.ctl.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** Finds out why an endpoint does not respond: gRPC reports the time limit only. */
public final class Reachability {
  private static final int TIMEOUT_MS = 1000;

  private Reachability() {}

  /**
   * Connects to the endpoint and, with TLS, makes a handshake.
   *
   * @return the problem, or null if there is none
   */
  public static @Nullable String problem(Endpoint endpoint, TlsSettings tls) {
    InetSocketAddress address = new InetSocketAddress(endpoint.host(), endpoint.port());
    if (address.isUnresolved()) {
      return "unknown host " + endpoint.host();
    }
    try (Socket socket = new Socket()) {
      socket.connect(address, TIMEOUT_MS);
      if (!EtcdClient.isTls(endpoint, tls)) {
        return null;
      }
      socket.setSoTimeout(TIMEOUT_MS);
      return handshake(socket, endpoint, tls);
    } catch (IOException e) {
      return "cannot connect: " + e.getMessage();
    } catch (IllegalArgumentException e) {
      return e.getMessage();
    }
  }

  private static @Nullable String handshake(Socket socket, Endpoint endpoint, TlsSettings tls) {
    try (SSLSocket secure =
        (SSLSocket)
            TlsContext.of(tls)
                .getSocketFactory()
                .createSocket(socket, endpoint.host(), endpoint.port(), true)) {
      SSLParameters parameters = secure.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2"});
      if (!tls.skipVerify()) {
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
      }
      secure.setSSLParameters(parameters);
      secure.startHandshake();
      awaitVerdict(secure);
      return null;
    } catch (IOException e) {
      return "TLS handshake failed: " + e.getMessage();
    }
  }

  /** With TLS 1.3 the server rejects a client certificate after the handshake of the client. */
  private static void awaitVerdict(SSLSocket secure) throws IOException {
    try {
      var unused = secure.getInputStream().read();
    } catch (SocketTimeoutException e) {
      // The server accepted the client and waits for its request.
      return;
    }
  }
}
