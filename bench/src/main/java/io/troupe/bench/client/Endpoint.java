package io.troupe.bench.client;

/**
 * The address of a server and the protocol to use.
 *
 * @param host name or address, not empty
 * @param port 1 to 65535
 * @param tls whether to use TLS; the server's certificate is not verified
 * @param token sent with each call; empty: none
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
   * Parses {@code host:port}, {@code http://host:port} or {@code https://host:port}.
   *
   * @throws IllegalArgumentException if the text has another form
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

  /** The same endpoint with a token. */
  public Endpoint withToken(String other) {
    return new Endpoint(host, port, tls, other);
  }

  /** The form of the URL flags of servers. */
  public String url() {
    return (tls ? SECURE : PLAIN) + host + ":" + port;
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
