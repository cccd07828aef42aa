package io.troupe.grpc.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.service.CorruptionRules.Answer;
import io.troupe.model.NodeId;
import io.troupe.protocol.StateReader.KvHash;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Q5: who is accused. */
class CorruptionRulesTest {
  private static final NodeId SELF = new NodeId(1);

  private static KvHash hash(int hash, long compacted, long current) {
    return new KvHash(hash, compacted, 10, current);
  }

  private static Answer says(int member, int hash, long compacted, long current) {
    return new Answer(new NodeId(member), hash(hash, compacted, current));
  }

  private static List<NodeId> periodic(KvHash before, KvHash after, Answer... answers) {
    return CorruptionRules.periodic(SELF, before, after, List.of(answers)).stream()
        .map(CorruptionRules.Accusation::member)
        .toList();
  }

  private static List<NodeId> ofCompaction(int members, Answer... answers) {
    return CorruptionRules.ofCompaction(SELF, hash(5, 10, 20), members, List.of(answers));
  }

  @Test
  void aLeaderWhoseOwnHashChangedAccusesItself() {
    assertThat(periodic(hash(5, 3, 10), hash(6, 3, 10), says(2, 6, 3, 10))).containsExactly(SELF);
  }

  @Test
  void ofAnotherRevisionOrCompactionTheOwnHashMayBeAnother() {
    assertThat(periodic(hash(5, 3, 10), new KvHash(6, 3, 11, 11), says(2, 5, 3, 10))).isEmpty();
    assertThat(periodic(hash(5, 3, 10), hash(6, 4, 10), says(2, 5, 3, 10))).isEmpty();
  }

  @Test
  void whoIsAheadOfTheLeaderIsAccused() {
    assertThat(periodic(hash(5, 3, 10), hash(5, 3, 10), says(2, 5, 3, 10), says(3, 5, 3, 11)))
        .containsExactly(new NodeId(3));
    assertThat(periodic(hash(5, 3, 10), hash(5, 3, 10), says(2, 7, 4, 10)))
        .containsExactly(new NodeId(2));
  }

  @Test
  void ofSeveralTheFirstIsAccused() {
    assertThat(periodic(hash(5, 3, 10), hash(5, 3, 12), says(2, 6, 3, 12), says(3, 7, 3, 12)))
        .containsExactly(new NodeId(2));
  }

  @Test
  void underAnOlderCompactionHashesAreNotCompared() {
    assertThat(periodic(hash(5, 3, 10), hash(5, 3, 10), says(2, 6, 2, 10))).isEmpty();
  }

  @Test
  void allOutsideTheMajorityAreAccused() {
    assertThat(ofCompaction(3, says(2, 5, 10, 20), says(3, 5, 10, 20))).isEmpty();
    assertThat(ofCompaction(3, says(2, 5, 10, 20), says(3, 6, 10, 20)))
        .containsExactly(new NodeId(3));
    assertThat(ofCompaction(3, says(2, 6, 10, 20), says(3, 6, 10, 20))).containsExactly(SELF);
    assertThat(
            ofCompaction(
                5, says(2, 6, 10, 20), says(3, 5, 10, 20), says(4, 7, 10, 20), says(5, 5, 10, 20)))
        .containsExactly(new NodeId(2), new NodeId(4));
  }

  @Test
  void withoutAMajorityNobodyIsNamed() {
    assertThat(ofCompaction(2, says(2, 6, 10, 20))).containsExactly(NodeId.NONE);
    assertThat(ofCompaction(3, says(2, 6, 10, 20), says(3, 7, 10, 20)))
        .containsExactly(NodeId.NONE);
    // Two of four are no majority, whoever is silent.
    assertThat(ofCompaction(4, says(2, 6, 10, 20), says(3, 5, 10, 20)))
        .containsExactly(NodeId.NONE);
  }

  @Test
  void ofAnotherCompactionAnAnswerDoesNotCount() {
    assertThat(ofCompaction(3, says(2, 6, 9, 20), says(3, 5, 10, 20))).isEmpty();
  }
}
