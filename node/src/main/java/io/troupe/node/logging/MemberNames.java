package io.troupe.node.logging;

import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.protocol.ClusterView;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Names and peer URLs of the members of this process's cluster, for its log: an operator knows
 * members by name, not by id. Thread-safe.
 */
public final class MemberNames {
  private static volatile Map<NodeId, Member> members = Map.of();

  private MemberNames() {}

  /**
   * What a log line says of a member beside its id.
   *
   * @param name empty for a member that has not published itself
   * @param url first of its peer URLs; empty if it has none
   */
  record Member(String name, String url) {}

  /** Replaces all names. Called when the members may have changed. */
  public static void update(ClusterView cluster) {
    Map<NodeId, Member> found = new TreeMap<>();
    cluster.peerUrls().forEach((id, urls) -> found.put(id, member(cluster, id, urls)));
    members = Map.copyOf(found);
  }

  private static Member member(ClusterView cluster, NodeId id, List<String> urls) {
    MemberAttributes attributes = cluster.published().get(id);
    String name = attributes == null ? "" : attributes.name();
    return new Member(name, urls.isEmpty() ? "" : urls.get(0));
  }

  /** Returns the member with that id; null for any other value. */
  static @Nullable Member of(@Nullable Object value) {
    return value instanceof NodeId id ? members.get(id) : null;
  }

  /** Returns the first part of the keys for name and URL: without {@code -id} at the end. */
  static String prefix(String key) {
    return key.endsWith("-id") ? key.substring(0, key.length() - "-id".length()) : key;
  }
}
