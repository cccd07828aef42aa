package io.troupe.node.discovery;

import io.troupe.node.discovery.Registry.Item;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A member as it registered itself.
 *
 * @param urls its peer URLs, at least one
 */
record FoundMember(String name, List<String> urls) {
  /**
   * Parses {@code name=url}, with commas between several of the same name.
   *
   * @throws DiscoveryException if the form is wrong, or a URL cannot be a peer URL
   */
  static FoundMember of(Item item) {
    String name = "";
    List<String> urls = new ArrayList<>();
    for (String part : item.value().trim().split(",", -1)) {
      int equals = part.indexOf('=');
      String url = part.substring(equals + 1).trim();
      boolean same = urls.isEmpty() || part.substring(0, Math.max(equals, 0)).equals(name);
      if (equals <= 0 || !same || !isPeerUrl(url)) {
        throw new DiscoveryException(
            "discovery: invalid peer URL: " + item.key() + " = " + item.value());
      }
      name = part.substring(0, equals);
      urls.add(url);
    }
    return new FoundMember(name, List.copyOf(urls));
  }

  private static boolean isPeerUrl(String text) {
    try {
      URI url = new URI(text);
      return ("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
          && url.getHost() != null
          && url.getRawUserInfo() == null
          && url.getPort() > 0
          && url.getPort() <= 65535
          && url.toString().endsWith(":" + url.getPort());
    } catch (URISyntaxException none) {
      return false;
    }
  }

  /**
   * Returns a cluster of these members.
   *
   * @return name to peer URLs, in their order
   * @throws DiscoveryException if two of them have the same name, or the same URL
   */
  static Map<String, List<String>> cluster(List<FoundMember> members) {
    Map<String, List<String>> cluster = new LinkedHashMap<>();
    List<String> seen = new ArrayList<>();
    for (FoundMember member : members) {
      if (cluster.put(member.name(), member.urls()) != null) {
        throw new DiscoveryException(
            "discovery: several members are called \""
                + member.name()
                + "\": give each a name of its own, and use a new token");
      }
      for (String url : member.urls()) {
        if (seen.contains(url)) {
          throw new DiscoveryException(
              "discovery cluster " + members + " has duplicate url " + url);
        }
        seen.add(url);
      }
    }
    return cluster;
  }
}
