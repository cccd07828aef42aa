package io.troupe.edge.connection;

import java.net.InetAddress;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** TLS of a port, as the gateway needs it. Thread-safe. */
public interface ConnectionSecurity {
  /**
   * Creates the server's engine for a new connection, with keys, versions, suites and trust
   * configured. Called on a thread that must not block for long.
   */
  SSLEngine engine();

  /** Whether the common name of a client's certificate is the user of its calls (A14). */
  boolean isLogin();

  /**
   * The common name of the client's certificate, empty if it has none; null if the client sent no
   * certificate.
   */
  @Nullable String commonName(SSLSession session);

  /** Whether {@link #checkAddress} must be called. */
  boolean checksAddress();

  /**
   * Checks the address of a client against its certificate, if it sent one (TL2). Does not block.
   *
   * @param session of a completed handshake
   * @return fails, in bounded time, if the certificate is not valid for the address
   */
  CompletionStage<Void> checkAddress(SSLSession session, InetAddress client);
}
