package io.troupe.testkit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The settings of the members of one server. */
final class MemberSettings {
  private static final long MIB = 1 << 20;

  /** Memory for clients and for traffic between members, of one member, where the heap permits. */
  private static final long MOST_BUDGET = 32 * MIB;

  private static final long LEAST_BUDGET = 4 * MIB;

  /**
   * Settings that the server determines, or that concern the whole process. Sections end with a
   * dot.
   */
  private static final List<String> OWN =
      List.of(
          "troupe.name",
          "troupe.data-dir",
          "troupe.wal-dir",
          "troupe.cache-dir",
          "troupe.listen-client-urls",
          "troupe.listen-client-http-urls",
          "troupe.listen-metrics-urls",
          "troupe.listen-peer-urls",
          "troupe.advertise-client-urls",
          "troupe.initial-advertise-peer-urls",
          "troupe.initial-cluster",
          "troupe.initial-cluster-token",
          "troupe.initial-cluster-state",
          "troupe.force-new-cluster",
          "troupe.memory-mlock",
          "troupe.socket-reuse-port",
          "troupe.discovery.",
          "troupe.client-transport-security.",
          "troupe.peer-transport-security.",
          "troupe.log.");

  private MemberSettings() {}

  /**
   * Checks a key that a test sets.
   *
   * @throws IllegalArgumentException if the key is no setting of a member, or is not the test's
   */
  static void check(String key) {
    if (!key.startsWith("troupe.")) {
      throw new IllegalArgumentException(
          "setting " + key + " is wrong: expected a full key such as troupe.max-request-bytes");
    }
    for (String own : OWN) {
      if (own.endsWith(".") ? (key + ".").startsWith(own) : key.equals(own)) {
        throw new IllegalArgumentException(
            "setting " + key + " is wrong: TroupeServer determines it (docs/testkit.md)");
      }
    }
  }

  /**
   * Returns the settings of each member.
   *
   * @param root directory of all data
   * @param token makes the ids of this cluster and its members unique
   * @param given by the test; override the defaults of this class
   * @return full keys, in the order of the ports
   */
  static List<Map<String, Object>> of(
      Path root,
      String token,
      List<ReservedPort> clients,
      List<ReservedPort> peers,
      Map<String, String> given) {
    List<String> cluster = new ArrayList<>();
    for (int i = 0; i < peers.size(); i++) {
      cluster.add(name(i) + "=" + peers.get(i).url());
    }
    List<Map<String, Object>> all = new ArrayList<>();
    for (int i = 0; i < peers.size(); i++) {
      Map<String, Object> settings = new HashMap<>(budgets(peers.size()));
      // The reserve for full disks would take 16 MiB of each temporary directory.
      settings.put("troupe.min-free-disk-bytes", 0);
      settings.putAll(given);
      settings.put("troupe.name", name(i));
      settings.put("troupe.data-dir", root.resolve(name(i)).toString());
      settings.put("troupe.cache-dir", root.resolve("cache").toString());
      settings.put("troupe.listen-client-urls", List.of(clients.get(i).url()));
      settings.put("troupe.advertise-client-urls", List.of(clients.get(i).url()));
      settings.put("troupe.listen-peer-urls", List.of(peers.get(i).url()));
      settings.put("troupe.initial-advertise-peer-urls", List.of(peers.get(i).url()));
      settings.put("troupe.initial-cluster", List.copyOf(cluster));
      settings.put("troupe.initial-cluster-token", token);
      all.add(Map.copyOf(settings));
    }
    return List.copyOf(all);
  }

  static String name(int index) {
    return "member" + index;
  }

  /**
   * Without these settings each member would use its memory as if the whole heap were its own. All
   * members of a server together get an eighth of the heap for clients and an eighth for traffic
   * between members, in equal parts.
   */
  private static Map<String, Object> budgets(int members) {
    long part = Runtime.getRuntime().maxMemory() / 8 / members;
    long budget = Math.max(LEAST_BUDGET, Math.min(MOST_BUDGET, part));
    return Map.of(
        "troupe.client-memory-bytes",
        budget,
        "troupe-peers.memory-bytes",
        budget,
        "troupe.store.block-cache-bytes",
        8 * MIB,
        "troupe.store.write-buffer-bytes",
        4 * MIB,
        "troupe.store.hot-record-bytes",
        MIB,
        "troupe.wal-segment-size",
        8 * MIB);
  }
}
