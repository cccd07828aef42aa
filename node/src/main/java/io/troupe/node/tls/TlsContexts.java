package io.troupe.node.tls;

import java.security.GeneralSecurityException;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * The context of one side: the own certificate, the authorities and the revoked certificates, each
 * as new as its own files. One that cannot be read keeps none of the others back: a new list of
 * revoked certificates counts while a key is being replaced. A new context resumes no session of
 * before. Thread-safe.
 */
final class TlsContexts {
  /**
   * Sessions that are kept to be resumed, some 3 KiB each. Clients of these days bring theirs along
   * (tickets); by default the JDK would keep 20,480 of all other clients for a day.
   */
  private static final int SESSIONS = 1024;

  private final TlsSettings settings;
  private final ReloadableFile<KeyManager[]> own;
  private final ReloadableFile<X509ExtendedTrustManager> authorities;
  private final ReloadableFile<RevokedSerials> revoked;
  private Parts parts;
  private SSLContext context;

  /** What a context was made of, told apart by identity. */
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

  /** For a new connection. */
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
        settings.trustAnybody()
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
