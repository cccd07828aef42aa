package io.troupe.ctl.command;

import io.troupe.ctl.client.ClientSettings;
import io.troupe.ctl.client.Endpoint;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.TlsContext;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.HttpsURLConnection;
import org.jspecify.annotations.Nullable;

/**
 * What an HTTP response shows of the machine of a member.
 *
 * @param time of its clock, in whole seconds; null if unknown
 * @param certificate of the server; null without TLS
 */
record ServerFacts(@Nullable Instant time, @Nullable X509Certificate certificate) {
  private static final int TIMEOUT_MS = 2000;

  /** Asks for the version; without a response nothing is known. */
  static ServerFacts read(Endpoint endpoint, ClientSettings settings) {
    boolean tls = EtcdClient.isTls(endpoint, settings.tls());
    URI uri = URI.create((tls ? "https://" : "http://") + endpoint.authority() + "/version");
    try {
      HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
      connection.setConnectTimeout(TIMEOUT_MS);
      connection.setReadTimeout(TIMEOUT_MS);
      if (connection instanceof HttpsURLConnection secure) {
        secure.setSSLSocketFactory(TlsContext.of(settings.tls()).getSocketFactory());
        if (settings.tls().skipVerify()) {
          secure.setHostnameVerifier((host, session) -> true);
        }
      }
      try {
        long millis = connection.getHeaderFieldDate("Date", 0);
        Instant time = millis == 0 ? null : Instant.ofEpochMilli(millis);
        return new ServerFacts(time, certificate(connection));
      } finally {
        connection.disconnect();
      }
    } catch (IOException | IllegalArgumentException e) {
      return new ServerFacts(null, null);
    }
  }

  private static @Nullable X509Certificate certificate(HttpURLConnection connection)
      throws IOException {
    if (connection instanceof HttpsURLConnection secure) {
      Certificate[] chain = secure.getServerCertificates();
      return chain.length > 0 && chain[0] instanceof X509Certificate x509 ? x509 : null;
    }
    return null;
  }

  List<Finding> findings(String endpoint, Instant now) {
    List<Finding> findings = new ArrayList<>();
    if (time != null) {
      findings.add(Diagnosis.clock(endpoint, Duration.between(now, time)));
    }
    if (certificate != null) {
      findings.add(Diagnosis.certificate(endpoint, certificate, now));
    }
    return findings;
  }
}
