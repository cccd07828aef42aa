package io.troupe.ctl.command;

import io.troupe.ctl.client.ClientSettings;
import io.troupe.ctl.client.Endpoint;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.TlsContext;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.regex.Pattern;
import javax.net.ssl.HttpsURLConnection;

/**
 * The metrics of a member.
 *
 * @param values of the samples, by name with labels
 * @param error why there are none; empty if they were read
 */
record Metrics(Map<String, Double> values, String error) {
  private static final Pattern NUMBER = Pattern.compile("[-+]?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?");
  private static final int TIMEOUT_MS = 5000;
  private static final int MOST_BYTES = 16 << 20;

  /** Reads {@code /metrics} of the endpoint. */
  static Metrics fetch(String text, ClientSettings settings) {
    try {
      Endpoint endpoint = Endpoint.parse(text);
      boolean tls = EtcdClient.isTls(endpoint, settings.tls());
      URI uri = URI.create((tls ? "https://" : "http://") + endpoint.authority() + "/metrics");
      HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
      if (connection instanceof HttpsURLConnection secure) {
        secure.setSSLSocketFactory(TlsContext.of(settings.tls()).getSocketFactory());
        if (settings.tls().skipVerify()) {
          secure.setHostnameVerifier((host, session) -> true);
        }
      }
      connection.setConnectTimeout(TIMEOUT_MS);
      connection.setReadTimeout(TIMEOUT_MS);
      try (InputStream body = connection.getInputStream()) {
        return parse(new String(body.readNBytes(MOST_BYTES), StandardCharsets.UTF_8));
      } finally {
        connection.disconnect();
      }
    } catch (IOException | IllegalArgumentException e) {
      return new Metrics(Map.of(), String.valueOf(e.getMessage()));
    }
  }

  /** Reads Prometheus' text format. */
  static Metrics parse(String text) {
    Map<String, Double> values = new HashMap<>();
    for (String line : text.split("\n", -1)) {
      int end = line.lastIndexOf(' ');
      if (line.startsWith("#") || end < 0) {
        continue;
      }
      String value = line.substring(end + 1);
      if (NUMBER.matcher(value).matches()) {
        values.put(line.substring(0, end), Double.parseDouble(value));
      }
    }
    return new Metrics(Map.copyOf(values), "");
  }

  OptionalDouble value(String name) {
    Double value = values.get(name);
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
  }
}
