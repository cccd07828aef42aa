package io.troupe.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The digest of the effects of applied entries: equal for equal states, different from the first
 * difference on.
 */
class StateDigestTest {
  private static Operation put(String key, String value) {
    return new Operation.Put(Bytes.utf8(key), Bytes.utf8(value), 0, false, false, false);
  }

  private static StateMachine machine(List<Operation> operations) {
    return machine(new InMemoryOrderedStore(), operations);
  }

  private static StateMachine machine(InMemoryOrderedStore store, List<Operation> operations) {
    StateMachine machine = new StateMachine(store, 1 << 16);
    for (Operation operation : operations) {
      machine.apply(machine.appliedIndex() + 1, 1, operation);
    }
    return machine;
  }

  @Test
  void everyDifferentEffectChangesDigest() {
    List<List<Operation>> logs =
        List.of(
            List.of(put("a", "1"), put("b", "2")),
            List.of(put("a", "1"), put("b", "3")),
            List.of(put("a", "1"), put("c", "2")),
            List.of(put("b", "2"), put("a", "1")),
            List.of(put("a", "12"), put("b", "")),
            List.of(
                put("a", "1"), new Operation.DeleteRange(KeyRange.single(Bytes.utf8("a")), false)),
            List.of(
                put("a", "1"), new Operation.DeleteRange(KeyRange.single(Bytes.utf8("b")), false)),
            List.of(put("a", "1"), new Operation.LeaseGrant(1, 60)),
            List.of(put("a", "1"), new Operation.LeaseGrant(2, 60)),
            List.of(put("a", "1"), new Operation.LeaseGrant(1, 61)),
            List.of(put("a", "1"), new Operation.Compact(2)),
            List.of(put("a", "1"), new Operation.AlarmActivate(new NodeId(1), AlarmType.NOSPACE)),
            List.of(put("a", "1")));
    Set<Long> digests = new HashSet<>();
    for (List<Operation> log : logs) {
      long digest = machine(log).digest();
      assertThat(digests.add(digest)).as("%s", log).isTrue();
      assertThat(machine(log).digest()).as("%s again", log).isEqualTo(digest);
    }
  }

  @Test
  void divergedDigestsStayDifferent() {
    StateMachine one = machine(List.of(put("a", "1")));
    StateMachine other = machine(List.of(put("a", "2")));
    for (int i = 0; i < 100; i++) {
      Operation same = put("a", "same" + i % 2);
      one.apply(one.appliedIndex() + 1, 1, same);
      other.apply(other.appliedIndex() + 1, 1, same);
      assertThat(one.digest()).isNotEqualTo(other.digest());
    }
  }

  @Test
  void digestIsIndependentOfBatchesAndSurvivesRestart() {
    InMemoryOrderedStore store = new InMemoryOrderedStore();
    StateMachine batched = machine(store, List.of(put("a", "1"), put("b", "2")));
    batched.commit();
    StateMachine reopened = machine(store, List.of(put("a", "3")));
    assertThat(reopened.digest())
        .isEqualTo(machine(List.of(put("a", "1"), put("b", "2"), put("a", "3"))).digest());
  }

  /**
   * The next write of a key includes the previous record in the digest, even if it is not
   * requested.
   */
  @Test
  void silentlyChangedRecordIsDetectedWhenReplaced() {
    for (String record :
        List.of("0002000201007f", "000200020100", "00010002010031", "00020002020031")) {
      InMemoryOrderedStore store = new InMemoryOrderedStore();
      machine(store, List.of(put("a", "1"))).commit();
      StoreBatch batch = new StoreBatch();
      Bytes flipped = Bytes.wrap(java.util.HexFormat.of().parseHex(record));
      assertThat(store.get(Space.LATEST, Bytes.utf8("a"))).isNotEqualTo(flipped);
      batch.put(Space.LATEST, Bytes.utf8("a"), flipped);
      store.write(batch);
      StateMachine changed = machine(store, List.of(put("a", "2")));
      assertThat(changed.digest())
          .as(record)
          .isNotEqualTo(machine(List.of(put("a", "1"), put("a", "2"))).digest());
    }
  }
}
