package io.troupe.tests.malformed;

import io.grpc.ChannelCredentials;
import io.grpc.TlsChannelCredentials;
import io.troupe.node.tls.ClientContext;
import io.troupe.node.tls.TestAuthority;
import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.node.tls.TestAuthority.KeyForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;

/**
 * A member's port that requires certificates, and its clients. Certificates have no common name, so
 * they name no user (A14).
 */
public final class TlsSide {
  private static final String BLOCK = "client-transport-security.";

  private final TestAuthority authority;
  private final Issued server;
  private final Issued own;
  private final Issued foreign;

  /**
   * Issues certificates.
   *
   * @param directory where their files are written
   */
  public TlsSide(Path directory) throws Exception {
    authority = new TestAuthority(directory, "authority");
    server = authority.issue("server", "", KeyForm.EC_PKCS8, "127.0.0.1");
    own = authority.issue("own", "", KeyForm.EC_PKCS8);
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    foreign = new TestAuthority(elsewhere, "unknown").issue("foreign", "", KeyForm.EC_PKCS8);
  }

  /** Settings of a member that requires client certificates, without "troupe.". */
  Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>(serverSettings());
    settings.put(BLOCK + "trusted-ca-file", authority.file().toString());
    settings.put(BLOCK + "client-cert-auth", "true");
    return settings;
  }

  /** Settings of a member that requires no client certificates, without "troupe.". */
  public Map<String, String> serverSettings() {
    return Map.of(
        BLOCK + "cert-file", server.cert().toString(),
        BLOCK + "key-file", server.key().toString());
  }

  /** TLS of a client on sockets. */
  public SSLContext client() throws GeneralSecurityException, IOException {
    return ClientContext.of(authority.file(), own);
  }

  /** TLS of a client of gRPC. */
  public ChannelCredentials credentials() throws IOException {
    return TlsChannelCredentials.newBuilder()
        .trustManager(authority.file().toFile())
        .keyManager(own.cert().toFile(), own.key().toFile())
        .build();
  }

  MalformedHandshakes handshakes(Target target) throws GeneralSecurityException, IOException {
    return new MalformedHandshakes(
        target,
        ClientContext.of(authority.file(), foreign),
        ClientContext.of(authority.file(), null));
  }
}
