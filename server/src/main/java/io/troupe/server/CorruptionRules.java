package io.troupe.server;

import io.troupe.model.NodeId;
import io.troupe.protocol.StateReader.KvHash;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds members whose content differs, by hashes (Q5). Hashes of other members are in the order of
 * the members; members that did not reply are missing.
 */
final class CorruptionRules {
  private CorruptionRules() {}

  /**
   * The hash of another member.
   *
   * @param hash its currentRevision is the member's own revision
   */
  record MemberHash(NodeId member, KvHash hash) {}

  /**
   * A member that a check accuses.
   *
   * @param why etcd's text
   */
  record Accusation(NodeId member, String why) {}

  /**
   * The periodic check of a leader. Accuses one member at most: the next run finds the others.
   *
   * @param self the leader
   * @param before its hash of the requested revision
   * @param after its hash of the current revision after all replies
   */
  static Optional<Accusation> periodic(
      NodeId self, KvHash before, KvHash after, List<MemberHash> hashes) {
    if (after.hash() != before.hash()
        && after.hashRevision() == before.hashRevision()
        && after.compactRevision() == before.compactRevision()) {
      return Optional.of(new Accusation(self, "found hash mismatch"));
    }
    for (MemberHash peer : hashes) {
      String why = difference(before, after, peer.hash());
      if (why != null) {
        return Optional.of(new Accusation(peer.member(), why));
      }
    }
    return Optional.empty();
  }

  private static @Nullable String difference(KvHash before, KvHash after, KvHash other) {
    if (other.currentRevision() > after.currentRevision()) {
      return "revision from follower must be less than or equal to leader's";
    }
    if (other.compactRevision() > after.compactRevision()) {
      return "compact revision from follower must be less than or equal to leader's";
    }
    return other.compactRevision() == before.compactRevision() && other.hash() != before.hash()
        ? "same compact revision then hashes must match"
        : null;
  }

  /**
   * The check of a compaction's hash.
   *
   * @param own of the leader
   * @param members of the cluster
   * @param hashes for the same revision; those under another compaction do not count
   * @return all accused members outside the majority; NodeId.NONE alone if there is no majority;
   *     empty if all agree
   */
  static List<NodeId> ofCompaction(NodeId self, KvHash own, int members, List<MemberHash> hashes) {
    Map<Integer, List<NodeId>> byHash = new LinkedHashMap<>();
    byHash.computeIfAbsent(own.hash(), first -> new ArrayList<>()).add(self);
    for (MemberHash peer : comparable(own, hashes)) {
      byHash.computeIfAbsent(peer.hash().hash(), first -> new ArrayList<>()).add(peer.member());
    }
    if (byHash.size() == 1) {
      return List.of();
    }
    int quorum = members / 2 + 1;
    for (Map.Entry<Integer, List<NodeId>> majority : byHash.entrySet()) {
      if (majority.getValue().size() >= quorum) {
        return byHash.entrySet().stream()
            .filter(group -> !group.getKey().equals(majority.getKey()))
            .flatMap(group -> group.getValue().stream())
            .toList();
      }
    }
    return List.of(NodeId.NONE);
  }

  /** The hashes of the same content as {@code own}. */
  static List<MemberHash> comparable(KvHash own, List<MemberHash> hashes) {
    return hashes.stream()
        .filter(peer -> peer.hash().compactRevision() == own.compactRevision())
        .toList();
  }
}
