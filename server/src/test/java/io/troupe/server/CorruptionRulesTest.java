package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.protocol.StateReader.KvHash;
import io.troupe.server.CorruptionRules.MemberHash;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Q5: the accused members. */
class CorruptionRulesTest {
  private static final NodeId SELF = new NodeId(1);

  private static KvHash hash(int hash, long compacted, long current) {
    return new KvHash(hash, compacted, 10, current);
  }

  private static MemberHash peerHash(int member, int hash, long compacted, long current) {
    return new MemberHash(new NodeId(member), hash(hash, compacted, current));
  }

  private static List<NodeId> periodic(KvHash before, KvHash after, MemberHash... hashes) {
    return CorruptionRules.periodic(SELF, before, after, List.of(hashes)).stream()
        .map(CorruptionRules.Accusation::member)
        .toList();
  }

  private static List<NodeId> ofCompaction(int members, MemberHash... hashes) {
    return CorruptionRules.ofCompaction(SELF, hash(5, 10, 20), members, List.of(hashes));
  }

  @Test
  void leaderWithChangedHashAccusesItself() {
    assertThat(periodic(hash(5, 3, 10), hash(6, 3, 10), peerHash(2, 6, 3, 10)))
        .containsExactly(SELF);
  }

  @Test
  void ownHashMayDifferAtOtherRevisionOrCompaction() {
    assertThat(periodic(hash(5, 3, 10), new KvHash(6, 3, 11, 11), peerHash(2, 5, 3, 10))).isEmpty();
    assertThat(periodic(hash(5, 3, 10), hash(6, 4, 10), peerHash(2, 5, 3, 10))).isEmpty();
  }

  @Test
  void memberAheadOfLeaderIsAccused() {
    assertThat(
            periodic(hash(5, 3, 10), hash(5, 3, 10), peerHash(2, 5, 3, 10), peerHash(3, 5, 3, 11)))
        .containsExactly(new NodeId(3));
    assertThat(periodic(hash(5, 3, 10), hash(5, 3, 10), peerHash(2, 7, 4, 10)))
        .containsExactly(new NodeId(2));
  }

  @Test
  void firstOfSeveralIsAccused() {
    assertThat(
            periodic(hash(5, 3, 10), hash(5, 3, 12), peerHash(2, 6, 3, 12), peerHash(3, 7, 3, 12)))
        .containsExactly(new NodeId(2));
  }

  @Test
  void hashesUnderOlderCompactionAreNotCompared() {
    assertThat(periodic(hash(5, 3, 10), hash(5, 3, 10), peerHash(2, 6, 2, 10))).isEmpty();
  }

  @Test
  void allOutsideTheMajorityAreAccused() {
    assertThat(ofCompaction(3, peerHash(2, 5, 10, 20), peerHash(3, 5, 10, 20))).isEmpty();
    assertThat(ofCompaction(3, peerHash(2, 5, 10, 20), peerHash(3, 6, 10, 20)))
        .containsExactly(new NodeId(3));
    assertThat(ofCompaction(3, peerHash(2, 6, 10, 20), peerHash(3, 6, 10, 20)))
        .containsExactly(SELF);
    assertThat(
            ofCompaction(
                5,
                peerHash(2, 6, 10, 20),
                peerHash(3, 5, 10, 20),
                peerHash(4, 7, 10, 20),
                peerHash(5, 5, 10, 20)))
        .containsExactly(new NodeId(2), new NodeId(4));
  }

  @Test
  void noMemberIsAccusedWithoutMajority() {
    assertThat(ofCompaction(2, peerHash(2, 6, 10, 20))).containsExactly(NodeId.NONE);
    assertThat(ofCompaction(3, peerHash(2, 6, 10, 20), peerHash(3, 7, 10, 20)))
        .containsExactly(NodeId.NONE);
    // Two of four are not a majority, even if another member does not reply.
    assertThat(ofCompaction(4, peerHash(2, 6, 10, 20), peerHash(3, 5, 10, 20)))
        .containsExactly(NodeId.NONE);
  }

  @Test
  void hashOfOtherCompactionDoesNotCount() {
    assertThat(ofCompaction(3, peerHash(2, 6, 9, 20), peerHash(3, 5, 10, 20))).isEmpty();
  }
}
