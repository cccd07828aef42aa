package io.troupe.grpc.http;

import java.net.InetAddress;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** TLS of a port, as the gateway needs it. Thread-safe. */
public interface ConnectionSecurity {
  /**
   * Makes the server's side of a new connection: keys, versions, suites and whom to trust are set.
   * Called on a thread that must not wait for long.
   */
  SSLEngine engine();

  /** Whether the common name of a client's certificate is the user of its calls (A14). */
  boolean isLogin();

  /**
   * The common name of the certificate that a client showed, empty if it has none; null if the
   * client showed none.
   */
  @Nullable String commonName(SSLSession session);

  /** Whether {@link #checkAddress} is to be asked. */
  boolean checksAddress();

  /**
   * Checks where the certificate of a client comes from, if it showed one (TL2). Does not wait.
   *
   * @param session of a handshake that is over
   * @return fails, in bounded time, if it may not come from there
   */
  CompletionStage<Void> checkAddress(SSLSession session, InetAddress client);
}
