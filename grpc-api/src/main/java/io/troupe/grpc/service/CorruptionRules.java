package io.troupe.grpc.service;

import io.troupe.model.NodeId;
import io.troupe.protocol.StateReader.KvHash;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
   * The periodic check of a leader: whom to accuse. One at most: the next run finds the others.
   *
   * @param self the leader
   * @param before its hash of the revision that was asked for
   * @param after its hash of what was current when all had answered
   */
  static Optional<NodeId> periodic(NodeId self, KvHash before, KvHash after, List<Answer> answers) {
    if (after.hash() != before.hash()
        && after.hashRevision() == before.hashRevision()
        && after.compactRevision() == before.compactRevision()) {
      return Optional.of(self);
    }
    for (Answer answer : answers) {
      KvHash other = answer.hash();
      boolean ahead =
          other.currentRevision() > after.currentRevision()
              || other.compactRevision() > after.compactRevision();
      boolean differs =
          other.compactRevision() == before.compactRevision() && other.hash() != before.hash();
      if (ahead || differs) {
        return Optional.of(answer.member());
      }
    }
    return Optional.empty();
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
