package io.troupe.node;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The members a new cluster begins with, from etcd's form {@code name=url,name=url}; a name may be
 * repeated for several URLs.
 *
 * @param members name to peer URLs, in the order given
 */
record InitialCluster(Map<String, List<String>> members) {

  /**
   * Reads the setting. Empty means: this member alone, with the URLs it advertises (F8).
   *
   * @throws StartException when it is malformed, or this member is not in it with exactly its
   *     advertised URLs (F9)
   */
  static InitialCluster of(NodeSettings settings) {
    String text = settings.initialCluster();
    if (text.isEmpty()) {
      return new InitialCluster(Map.of(settings.name(), settings.initialAdvertisePeerUrls()));
    }
    Map<String, List<String>> members = new LinkedHashMap<>();
    for (String part : text.split(",", -1)) {
      int equals = part.indexOf('=');
      if (equals <= 0 || equals == part.length() - 1) {
        throw wrong(text, "name=http://host:port, separated by commas");
      }
      members
          .computeIfAbsent(part.substring(0, equals).trim(), name -> new ArrayList<>())
          .add(part.substring(equals + 1).trim());
    }
    List<String> own = members.get(settings.name());
    if (own == null) {
      throw wrong(text, "an entry for this member's name \"" + settings.name() + "\"");
    }
    if (!own.stream()
        .sorted()
        .toList()
        .equals(settings.initialAdvertisePeerUrls().stream().sorted().toList())) {
      throw wrong(
          text,
          "for \""
              + settings.name()
              + "\" the URLs of initial-advertise-peer-urls "
              + settings.initialAdvertisePeerUrls());
    }
    if (members.size() > 1) {
      throw wrong(text, "one member: this version runs clusters of one");
    }
    return new InitialCluster(members);
  }

  private static StartException wrong(String value, String right) {
    return new StartException(
        ExitCode.CONFIGURATION,
        "configuration: troupe.initial-cluster = \"" + value + "\" is wrong: expected " + right);
  }
}
