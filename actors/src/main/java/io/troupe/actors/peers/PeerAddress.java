package io.troupe.actors.peers;

import java.net.URI;
import java.net.URISyntaxException;

/**
 * Host and port of a peer URL.
 *
 * @param host as written in the URL
 * @param port 1 to 65535
 */
public record PeerAddress(String host, int port) {
  /**
   * Reads a peer URL.
   *
   * @throws IllegalArgumentException if it names no host or no port
   */
  public static PeerAddress of(String url) {
    try {
      URI uri = new URI(url);
      if (uri.getHost() == null || uri.getPort() < 1) {
        throw new IllegalArgumentException("peer URL without host or port: " + url);
      }
      return new PeerAddress(uri.getHost(), uri.getPort());
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("bad peer URL " + url + ": " + e.getMessage(), e);
    }
  }

  /** True if TLS is spoken at that peer URL. */
  public static boolean isTls(String url) {
    return url.regionMatches(true, 0, "https:", 0, "https:".length());
  }

  /** The host as a certificate names it: an IPv6 address has no brackets. */
  public String bareHost() {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }
}
