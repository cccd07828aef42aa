package io.troupe.node.tls;

import java.security.GeneralSecurityException;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Creates the context of one side from the own certificate, the CAs and the list of revoked
 * certificates. Each is reloaded on its own: a new list of revoked certificates takes effect while
 * a key cannot be read. A new context resumes no earlier session. Thread-safe.
 */
final class TlsContexts {
  /**
   * Maximum number of cached sessions, of about 3 KiB each. Current clients keep their sessions
   * themselves (tickets); for other clients the JDK would by default cache 20,480 sessions for a
   * day.
   */
  private static final int SESSIONS = 1024;

  private final TlsSettings settings;
  private final ReloadableFile<KeyManager[]> own;
  private final ReloadableFile<X509ExtendedTrustManager> authorities;
  private final ReloadableFile<RevokedSerials> revoked;
  private Parts parts;
  private SSLContext context;

  /** The parts of a context, compared by identity. */
  private static final class Parts {
    final KeyManager[] own;
    final X509ExtendedTrustManager authorities;
    final RevokedSerials revoked;

    Parts(KeyManager[] own, X509ExtendedTrustManager authorities, RevokedSerials revoked) {
      this.own = own;
      this.authorities = authorities;
      this.revoked = revoked;
    }

    boolean isOf(Parts other) {
      return own == other.own && authorities == other.authorities && revoked == other.revoked;
    }
  }

  /**
   * Reads everything once.
   *
   * @throws TlsException if something cannot be used
   */
  TlsContexts(
      TlsSettings settings,
      ReloadableFile<KeyManager[]> own,
      ReloadableFile<X509ExtendedTrustManager> authorities,
      ReloadableFile<RevokedSerials> revoked) {
    this.settings = settings;
    this.own = own;
    this.authorities = authorities;
    this.revoked = revoked;
    this.parts = new Parts(own.get(), authorities.get(), revoked.get());
    this.context = make(parts);
  }

  /** Returns the context for a new connection. */
  synchronized SSLContext get() {
    Parts now = new Parts(own.get(), authorities.get(), revoked.get());
    if (!now.isOf(parts)) {
      parts = now;
      context = make(now);
    }
    return context;
  }

  private SSLContext make(Parts of) {
    X509ExtendedTrustManager trust =
        settings.trustAnyCertificate()
            ? of.authorities
            : new RestrictedTrustManager(of.authorities, of.revoked, settings);
    try {
      SSLContext made = SSLContext.getInstance("TLS");
      made.init(of.own, new TrustManager[] {trust}, null);
      List.of(made.getServerSessionContext(), made.getClientSessionContext())
          .forEach(sessions -> sessions.setSessionCacheSize(SESSIONS));
      return made;
    } catch (GeneralSecurityException e) {
      throw new TlsException("TLS cannot be used: " + e.getMessage(), e);
    }
  }
}
