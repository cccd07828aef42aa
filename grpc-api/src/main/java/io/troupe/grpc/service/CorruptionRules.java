package io.troupe.grpc.service;

import io.troupe.model.NodeId;
import io.troupe.protocol.StateReader.KvHash;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whose content differs, judged by hashes (Q5). Answers of others come in the order of the members;
 * one that gave none is left out.
 */
final class CorruptionRules {
  private CorruptionRules() {}

  /**
   * What another member answered.
   *
   * @param hash its currentRevision is the member's own revision
   */
  record Answer(NodeId member, KvHash hash) {}

  /**
   * Whom a check accuses.
   *
   * @param why etcd's words for it
   */
  record Accusation(NodeId member, String why) {}

  /**
   * The periodic check of a leader: whom to accuse. One at most: the next run finds the others.
   *
   * @param self the leader
   * @param before its hash of the revision that was asked for
   * @param after its hash of what was current when all had answered
   */
  static Optional<Accusation> periodic(
      NodeId self, KvHash before, KvHash after, List<Answer> answers) {
    if (after.hash() != before.hash()
        && after.hashRevision() == before.hashRevision()
        && after.compactRevision() == before.compactRevision()) {
      return Optional.of(new Accusation(self, "found hash mismatch"));
    }
    for (Answer answer : answers) {
      String why = difference(before, after, answer.hash());
      if (why != null) {
        return Optional.of(new Accusation(answer.member(), why));
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
   * The check of a compaction's hash: whom to accuse.
   *
   * @param own of the leader
   * @param members of the cluster
   * @param answers for the same revision; those under another compaction do not count
   * @return all outside the majority; NodeId.NONE alone if there is none; empty if all agree
   */
  static List<NodeId> ofCompaction(NodeId self, KvHash own, int members, List<Answer> answers) {
    Map<Integer, List<NodeId>> byHash = new LinkedHashMap<>();
    byHash.computeIfAbsent(own.hash(), first -> new ArrayList<>()).add(self);
    for (Answer answer : comparable(own, answers)) {
      byHash.computeIfAbsent(answer.hash().hash(), first -> new ArrayList<>()).add(answer.member());
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

  /** Answers about the same content as {@code own}. */
  static List<Answer> comparable(KvHash own, List<Answer> answers) {
    return answers.stream()
        .filter(answer -> answer.hash().compactRevision() == own.compactRevision())
        .toList();
  }
}
