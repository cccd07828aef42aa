package io.troupe.node.flags;

import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Checks a list of URLs as etcd does while it reads its flags. Further checks are part of the
 * setting.
 *
 * @source etcd's types.NewURLs and flags.UniqueURLs
 */
public final class UrlList {
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("https?://(?:[^@/?#]*@)?(?:\\[[^\\]]*]|[^:/?#\\[\\]]*):[0-9]*(?:[/?#].*)?");
  private static final Pattern PATH = Pattern.compile("https?://[^/?#]*/.*");

  private UrlList() {}

  /**
   * Returns the list without duplicates, in its order.
   *
   * @throws IllegalArgumentException in etcd's words
   */
  public static String checked(String urls) {
    if (urls.isEmpty()) {
      return urls;
    }
    return Arrays.stream(urls.split(",", -1))
        .map(url -> one(url.trim()))
        .distinct()
        .collect(Collectors.joining(","));
  }

  private static String one(String url) {
    if (url.matches("unixs?:.*")) {
      return url;
    }
    if (!url.matches("https?:.*")) {
      throw new IllegalArgumentException("URL scheme must be http, https, unix, or unixs: " + url);
    }
    if (!HOST_AND_PORT.matcher(url).matches()) {
      throw new IllegalArgumentException(
          "URL address does not have the form \"host:port\": " + url);
    }
    if (PATH.matcher(url).matches()) {
      throw new IllegalArgumentException("URL must not contain a path: " + url);
    }
    return url;
  }
}
