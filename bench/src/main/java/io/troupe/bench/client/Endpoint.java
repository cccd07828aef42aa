package io.troupe.bench.client;

/**
 * Where a server listens, and how it is spoken to.
 *
 * @param host name or address, not empty
 * @param port 1 to 65535
 * @param tls whether over TLS; its certificate is not verified
 * @param token shown with each call; empty: none
 */
public record Endpoint(String host, int port, boolean tls, String token) {
  private static final String PLAIN = "http://";
  private static final String SECURE = "https://";

  public Endpoint {
    if (host.isEmpty() || port < 1 || port > 65535) {
      throw new IllegalArgumentException("not an endpoint: " + host + ":" + port);
    }
  }

  /** Without TLS and token. */
  public Endpoint(String host, int port) {
    this(host, port, false, "");
  }

  /**
   * Reads {@code host:port}, {@code http://host:port} or {@code https://host:port}.
   *
   * @throws IllegalArgumentException if it is none of them
   */
  public static Endpoint parse(String text) {
    boolean tls = text.startsWith(SECURE);
    String bare = tls ? text.substring(SECURE.length()) : text;
    bare = bare.startsWith(PLAIN) ? bare.substring(PLAIN.length()) : bare;
    int colon = bare.lastIndexOf(':');
    if (colon < 1) {
      throw new IllegalArgumentException("not host:port: " + text);
    }
    try {
      int port = Integer.parseInt(bare.substring(colon + 1));
      return new Endpoint(bare.substring(0, colon), port, tls, "");
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not host:port: " + text, e);
    }
  }

  /** The same, showing a token. */
  public Endpoint showing(String other) {
    return new Endpoint(host, port, tls, other);
  }

  /** The form that servers take in their flags. */
  public String url() {
    return (tls ? SECURE : PLAIN) + host + ":" + port;
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
