package io.troupe.bench.client;

/**
 * Where a server listens.
 *
 * @param host name or address, not empty
 * @param port 1 to 65535
 */
public record Endpoint(String host, int port) {
  public Endpoint {
    if (host.isEmpty() || port < 1 || port > 65535) {
      throw new IllegalArgumentException("not an endpoint: " + host + ":" + port);
    }
  }

  /**
   * Reads {@code host:port} or {@code http://host:port}.
   *
   * @throws IllegalArgumentException if it is neither
   */
  public static Endpoint parse(String text) {
    String bare = text.startsWith("http://") ? text.substring("http://".length()) : text;
    int colon = bare.lastIndexOf(':');
    if (colon < 1) {
      throw new IllegalArgumentException("not host:port: " + text);
    }
    try {
      return new Endpoint(bare.substring(0, colon), Integer.parseInt(bare.substring(colon + 1)));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not host:port: " + text, e);
    }
  }

  /** The form that servers take in their flags. */
  public String url() {
    return "http://" + host + ":" + port;
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
