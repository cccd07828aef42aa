package io.troupe.node.offline;

import io.troupe.model.NodeId;
import io.troupe.node.flags.UrlList;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.protocol.MemberIds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One member of a new cluster (SN2).
 *
 * @param members peer URLs by name, of all members of the new cluster
 */
record NewCluster(String name, Map<String, List<String>> members, String token) {

  /**
   * Reads the members, and checks that this member is one of them.
   *
   * @param initialCluster {@code name=url} pairs, separated by commas; a name may occur several
   *     times
   * @param advertised this member's peer URLs, separated by commas
   * @throws CommandException if they do not fit together
   */
  static NewCluster of(String initialCluster, String name, String advertised, String token) {
    NewCluster cluster = of(initialCluster, name, token);
    List<String> own = cluster.members.getOrDefault(name, List.of());
    List<String> wanted = Arrays.stream(checked(advertised).split(",", -1)).sorted().toList();
    if (!own.stream().sorted().toList().equals(wanted)) {
      throw new CommandException(
          "--initial-cluster has "
              + name
              + "="
              + String.join(",", own)
              + " but missing from --initial-advertise-peer-urls="
              + advertised);
    }
    return cluster;
  }

  /** As above, for a member that advertises the URLs that the cluster has for it. */
  static NewCluster of(String initialCluster, String name, String token) {
    Map<String, List<String>> members = members(initialCluster);
    if (!members.containsKey(name)) {
      throw new CommandException(
          "couldn't find local name \"" + name + "\" in the initial cluster configuration");
    }
    return new NewCluster(name, members, token);
  }

  /** Names of the members, in the given order. */
  static Set<String> names(String initialCluster) {
    return members(initialCluster).keySet();
  }

  private static Map<String, List<String>> members(String initialCluster) {
    Map<String, List<String>> members = new LinkedHashMap<>();
    for (String pair : initialCluster.split(",", -1)) {
      int split = pair.indexOf('=');
      if (split < 1 || split == pair.length() - 1) {
        throw new CommandException(
            "--initial-cluster = "
                + initialCluster
                + " is wrong: expected name=url pairs, separated by commas");
      }
      members
          .computeIfAbsent(pair.substring(0, split).strip(), absent -> new ArrayList<>())
          .add(checked(pair.substring(split + 1).strip()));
    }
    return members;
  }

  private static String checked(String urls) {
    try {
      return UrlList.checked(urls);
    } catch (IllegalArgumentException e) {
      throw new CommandException(String.valueOf(e.getMessage()));
    }
  }

  /** Peer URLs by member id. */
  SortedMap<NodeId, List<String>> peerUrls() {
    SortedMap<NodeId, List<String>> peerUrls = new TreeMap<>();
    members.values().forEach(urls -> peerUrls.put(MemberIds.initial(urls, token), urls));
    return peerUrls;
  }

  /** Identity of the member (ID1, ID2). */
  MemberIdentity identity(String createdBy) {
    SortedMap<NodeId, List<String>> peerUrls = peerUrls();
    List<String> own = members.getOrDefault(name, List.of());
    return new MemberIdentity(
        MemberIds.cluster(peerUrls.keySet()),
        MemberIds.initial(own, token),
        name,
        own,
        false,
        peerUrls,
        createdBy);
  }
}
