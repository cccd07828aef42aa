package io.troupe.node.config;

import java.net.URI;
import java.nio.file.Path;

/** URLs that name the file of a unix socket (TL7). */
public final class SocketUrl {
  private SocketUrl() {}

  /** Returns true if a URL is of this kind, well formed or not. */
  public static boolean is(URI url) {
    return "unix".equals(url.getScheme()) || "unixs".equals(url.getScheme());
  }

  /** Returns true if it names a file and nothing else. */
  static boolean isComplete(URI url) {
    return url.getPath() != null
        && url.getRawUserInfo() == null
        && url.getRawQuery() == null
        && url.getRawFragment() == null
        && !text(url).isEmpty()
        && !text(url).endsWith("/");
  }

  /**
   * Returns the file, as etcd reads it: {@code unix://localhost:2379} and {@code unix://run/a} are
   * below the working directory, {@code unix:///run/a} is an absolute path.
   */
  public static Path path(URI url) {
    return Path.of(text(url));
  }

  private static String text(URI url) {
    String authority = url.getRawAuthority() == null ? "" : url.getRawAuthority();
    return authority + url.getPath();
  }
}
