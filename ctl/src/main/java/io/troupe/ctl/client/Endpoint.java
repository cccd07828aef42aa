package io.troupe.ctl.client;

import java.net.URI;
import java.net.URISyntaxException;

/**
 * The address of a member.
 *
 * @param text as given
 * @param host name or address; an IPv6 address without brackets
 * @param port 1 to 65535
 * @param scheme whether the text demands TLS, plaintext, or leaves it to the flags
 */
public record Endpoint(String text, String host, int port, Scheme scheme) {
  /** What the text says about TLS. */
  public enum Scheme {
    PLAIN,
    TLS,
    ANY
  }

  private static final int DEFAULT_PORT = 2379;

  /**
   * @param text {@code host:port}, {@code http://host:port} or {@code https://host:port}
   * @throws IllegalArgumentException if it has another form; Unix sockets are not supported
   */
  public static Endpoint parse(String text) {
    Scheme scheme = Scheme.ANY;
    String rest = text;
    int separator = text.indexOf("://");
    if (separator >= 0) {
      scheme =
          switch (text.substring(0, separator)) {
            case "http" -> Scheme.PLAIN;
            case "https" -> Scheme.TLS;
            default ->
                throw new IllegalArgumentException(
                    "endpoint " + text + ": the scheme is not http or https");
          };
      rest = text.substring(separator + 3);
    }
    if (rest.contains("/")) {
      rest = rest.substring(0, rest.indexOf('/'));
    }
    try {
      URI uri = new URI("x://" + rest);
      if (uri.getHost() == null) {
        throw new IllegalArgumentException("endpoint " + text + ": not host:port");
      }
      String host = uri.getHost();
      return new Endpoint(
          text,
          host.startsWith("[") ? host.substring(1, host.length() - 1) : host,
          uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort(),
          scheme);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("endpoint " + text + ": not host:port", e);
    }
  }

  /** {@code host:port}, with brackets around an IPv6 address. */
  public String authority() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
