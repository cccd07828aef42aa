package io.troupe.node.discovery;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigUtil;
import io.troupe.node.tls.OutgoingTls;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keys of a cluster through its JSON gateway, which etcd and this program have at the client URLs.
 * The first endpoint that answers is used. One caller.
 */
final class HttpRegistry implements Registry {
  private final DiscoverySettings settings;
  private final HttpClient client;
  private @Nullable String login;

  /**
   * Opens nothing yet.
   *
   * @throws io.troupe.node.tls.TlsException if certificates or keys cannot be used
   */
  HttpRegistry(DiscoverySettings settings) {
    this.settings = settings;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(settings.dialTimeout());
    if (settings.endpoints().stream().anyMatch(url -> "https".equals(url.getScheme()))) {
      builder.sslContext(
          OutgoingTls.context(
              settings.certFile(),
              settings.keyFile(),
              settings.trustedCaFile(),
              settings.trustAnybody()));
    }
    this.client = builder.build();
  }

  @Override
  public Optional<String> get(String key) throws IOException, InterruptedException {
    List<Item> found = items(call("/v3/kv/range", "{\"key\":\"" + base64(key) + "\"}"));
    return found.stream().map(Item::value).findFirst();
  }

  @Override
  public List<Item> list(String prefix) throws IOException, InterruptedException {
    // The end of a range of all that begin so; the last character of ours is a slash.
    String end = prefix.substring(0, prefix.length() - 1) + (char) ('/' + 1);
    return items(
        call(
            "/v3/kv/range",
            "{\"key\":\""
                + base64(prefix)
                + "\",\"range_end\":\""
                + base64(end)
                + "\",\"sort_target\":\"CREATE\",\"sort_order\":\"ASCEND\"}"));
  }

  @Override
  public void put(String key, String value) throws IOException, InterruptedException {
    call("/v3/kv/put", "{\"key\":\"" + base64(key) + "\",\"value\":\"" + base64(value) + "\"}");
  }

  private Config call(String path, String body) throws IOException, InterruptedException {
    IOException last = new IOException("no endpoint");
    for (URI endpoint : settings.endpoints()) {
      try {
        if (!settings.user().isEmpty() && login == null) {
          login = login(endpoint);
        }
        return ask(endpoint, path, body);
      } catch (IOException failed) {
        // The token may be too old: the next try begins with a login.
        login = null;
        failed.addSuppressed(last);
        last = failed;
      }
    }
    throw last;
  }

  private String login(URI endpoint) throws IOException, InterruptedException {
    String body =
        "{\"name\":" + quoted(settings.user()) + ",\"password\":" + quoted(settings.password()) + "}";
    try {
      return ask(endpoint, "/v3/auth/authenticate", body).getString("token");
    } catch (ConfigException malformed) {
      throw new IOException(endpoint + " answers a login without a token", malformed);
    }
  }

  private Config ask(URI endpoint, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(endpoint + path))
            .timeout(settings.requestTimeout())
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    String token = login;
    if (token != null) {
      request.header("Authorization", token);
    }
    HttpResponse<String> answer =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException(
          endpoint + path + " answers " + answer.statusCode() + " " + answer.body().strip());
    }
    try {
      return ConfigFactory.parseString(answer.body());
    } catch (ConfigException malformed) {
      throw new IOException(endpoint + path + " answers no JSON", malformed);
    }
  }

  private static List<Item> items(Config answer) throws IOException {
    if (!answer.hasPath("kvs")) {
      return List.of();
    }
    try {
      List<Item> items = new ArrayList<>();
      for (Config each : answer.getConfigList("kvs")) {
        items.add(
            new Item(
                text(each, "key"),
                each.hasPath("value") ? text(each, "value") : "",
                each.getLong("create_revision")));
      }
      return List.copyOf(items);
    } catch (ConfigException | IllegalArgumentException malformed) {
      throw new IOException("an answer that is none: " + malformed.getMessage(), malformed);
    }
  }

  private static String text(Config item, String name) {
    return new String(Base64.getDecoder().decode(item.getString(name)), StandardCharsets.UTF_8);
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A JSON text. */
  private static String quoted(String text) {
    return ConfigUtil.quoteString(text);
  }
}
