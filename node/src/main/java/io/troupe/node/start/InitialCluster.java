package io.troupe.node.start;

import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The initial members of a cluster; on a member that joins, the existing members.
 *
 * @param name this member's name
 * @param members name to peer URLs, sorted as text, in the order given; this member among them
 * @param token goes into the ids of first members
 */
public record InitialCluster(String name, Map<String, List<String>> members, String token) {
  public InitialCluster {
    Map<String, List<String>> sorted = new LinkedHashMap<>();
    members.forEach((member, urls) -> sorted.put(member, urls.stream().sorted().toList()));
    members = Collections.unmodifiableMap(sorted);
  }

  /**
   * Reads the setting. If it is empty, this member is alone, with the URLs that it advertises (F8).
   *
   * @throws StartException if this member is not in it with exactly its advertised URLs (F9), or if
   *     discovery is set although the member joins
   */
  public static InitialCluster of(NodeSettings settings) {
    if (settings.discovery().isPresent()
        && settings.initialClusterState() == NodeSettings.InitialState.EXISTING) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.discovery is for first members: discovery URL should not be set"
              + " when joining existing initial cluster");
    }
    return of(settings, settings.initialCluster(), settings.initialClusterToken());
  }

  /**
   * Creates the cluster from members that another source names.
   *
   * @throws StartException as above
   */
  public static InitialCluster of(
      NodeSettings settings, Map<String, List<String>> members, String token) {
    List<String> advertised = settings.initialAdvertisePeerUrls().stream().sorted().toList();
    if (members.isEmpty()) {
      return new InitialCluster(settings.name(), Map.of(settings.name(), advertised), token);
    }
    InitialCluster cluster = new InitialCluster(settings.name(), members, token);
    if (!cluster.members().containsKey(settings.name())) {
      throw wrong(cluster, "an entry for this member's name \"" + settings.name() + "\"");
    }
    if (!cluster.own().equals(advertised)) {
      throw wrong(
          cluster,
          "for \""
              + settings.name()
              + "\" the URLs of troupe.initial-advertise-peer-urls "
              + advertised);
    }
    return cluster;
  }

  /** This member's peer URLs. */
  List<String> own() {
    return members.getOrDefault(name, List.of());
  }

  /** Returns the peer URLs of each other member, sorted by the first one as text. */
  List<List<String>> others() {
    return members.entrySet().stream()
        .filter(member -> !member.getKey().equals(name))
        .map(Map.Entry::getValue)
        .sorted(Comparator.comparing(urls -> urls.get(0)))
        .toList();
  }

  private static StartException wrong(InitialCluster cluster, String right) {
    return new StartException(
        ExitCode.CONFIGURATION,
        "configuration: troupe.initial-cluster = "
            + cluster.members()
            + " is wrong: expected "
            + right);
  }
}
