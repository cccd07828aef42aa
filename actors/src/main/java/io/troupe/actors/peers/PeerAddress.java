package io.troupe.actors.peers;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Address of a peer URL: host and port, or the file of a unix socket.
 *
 * @param host as written in the URL; {@code localhost} for a unix socket, whose certificate must be
 *     for it
 * @param port 1 to 65535; 0 for a unix socket
 * @param socket file of a unix socket; null for TCP
 */
public record PeerAddress(String host, int port, @Nullable Path socket) {
  /** An address of TCP. */
  public PeerAddress(String host, int port) {
    this(host, port, null);
  }

  /**
   * Reads a peer URL. As in etcd {@code unix://localhost:2380} and {@code unix://run/a} are files
   * below the working directory, {@code unix:///run/a} is an absolute path.
   *
   * @throws IllegalArgumentException if it names no host and port, and no file
   */
  public static PeerAddress of(String url) {
    try {
      URI uri = new URI(url);
      if (isUnix(uri)) {
        String authority = uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
        String file = authority + (uri.getPath() == null ? "" : uri.getPath());
        if (file.isEmpty() || file.endsWith("/")) {
          throw new IllegalArgumentException("peer URL without the file of a socket: " + url);
        }
        return new PeerAddress("localhost", 0, Path.of(file));
      }
      if (uri.getHost() == null || uri.getPort() < 1) {
        throw new IllegalArgumentException("peer URL without host or port: " + url);
      }
      return new PeerAddress(uri.getHost(), uri.getPort());
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("bad peer URL " + url + ": " + e.getMessage(), e);
    }
  }

  private static boolean isUnix(URI url) {
    return "unix".equals(url.getScheme()) || "unixs".equals(url.getScheme());
  }

  /** True if TLS is spoken at that peer URL. */
  public static boolean isTls(String url) {
    return url.regionMatches(true, 0, "https:", 0, "https:".length())
        || url.regionMatches(true, 0, "unixs:", 0, "unixs:".length());
  }

  /** The host as a certificate names it: an IPv6 address has no brackets. */
  public String bareHost() {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  /** For the log. */
  public String text() {
    return socket == null ? host + ":" + port : socket.toString();
  }
}
