package io.troupe.grpc.http;

import java.net.InetAddress;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;

/** TLS of a port, as the gateway needs it. Thread-safe. */
public interface ConnectionSecurity {
  /**
   * Makes the server's side of a new connection: keys, versions, suites and whom to trust are set.
   * Called on a thread that must not wait for long.
   */
  SSLEngine engine();

  /** Whether the common name of a client's certificate is the user of its calls (A14). */
  boolean isLogin();

  /** The common name of a verified certificate; empty if it has none. */
  String commonName(X509Certificate certificate);

  /** Whether {@link #checkAddress} is to be asked. */
  boolean checksAddress();

  /**
   * Checks where a certificate comes from (TL2). May wait for a resolver.
   *
   * @throws CertificateException if it may not come from there
   */
  void checkAddress(X509Certificate certificate, InetAddress client) throws CertificateException;
}
