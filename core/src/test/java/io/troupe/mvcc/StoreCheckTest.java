package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.MemberCheck;
import io.troupe.model.Bytes;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StoreCheckTest {
  private final Fixture fixture = new Fixture();
  private final List<String> problems = new ArrayList<>();

  @BeforeEach
  void fill() {
    fixture.apply(new Operation.LeaseGrant(7, 60));
    fixture.apply(put("a", "1"));
    fixture.apply(put("b", "2", 7));
    fixture.apply(put("a", "3"));
    fixture.apply(put("c", "4"));
    fixture.apply(delete(one("c")));
    fixture.apply(new Operation.Compact(4));
  }

  private StoreCheck.Summary check() {
    return StoreCheck.run(fixture.store, problems::add);
  }

  private void remove(Space space, Bytes row) {
    StoreBatch batch = new StoreBatch();
    batch.delete(space, row);
    fixture.store.write(batch);
  }

  private void write(Space space, Bytes row, Bytes value) {
    StoreBatch batch = new StoreBatch();
    batch.put(space, row, value);
    fixture.store.write(batch);
  }

  @Test
  void soundStateHasNoProblem() {
    assertThat(check()).isEqualTo(new StoreCheck.Summary(7, 6, 4, 5, 2, 1, false));
    fixture.removeAll();
    assertThat(check().changes()).isEqualTo(4);
    assertThat(problems).isEmpty();
  }

  @Test
  void randomStatesHaveNoProblem() {
    for (long seed = 1; seed <= 30; seed++) {
      Fixture random = new Fixture();
      OperationSource source = new OperationSource(new SplittableRandom(seed));
      for (int i = 0; i < 200; i++) {
        random.apply(source.next(random.machine.currentRevision()));
        if (i % 50 == 0) {
          random.removeAll();
        }
      }
      assertThat(StoreCheck.run(random.store, problems::add).changes()).isPositive();
      assertThat(problems).as("seed " + seed).isEmpty();
    }
  }

  @Test
  void missingChangeIsFound() {
    remove(Space.REV, StoreKeys.revision(4, 0));
    check();
    assertThat(problems)
        .containsExactly(
            "revision 4_0 has no row in REV than key " + key("a"),
            "KEY and LATEST have 5 versions, REV has 4");
  }

  @Test
  void revisionAboveCurrentIsFound() {
    write(Space.LATEST, StoreKeys.LATEST_REVISION, RowCodec.longs(5));
    check();
    assertThat(problems)
        .containsExactly(
            "revision 6_0 is above the current revision 5",
            "revision 6_0 of REV is above the current revision 5");
  }

  @Test
  void wrongNewestRecordIsFound() {
    remove(Space.LATEST, key("a"));
    write(Space.LATEST, key("c"), Bytes.of(1, 1, 1, 0));
    check();
    assertThat(problems)
        .containsExactly(
            "KEY and LATEST have 4 versions, REV has 5",
            "revision 4_0 of REV has no version of key " + key("a"),
            "key " + key("a") + " is at revision 2, but LATEST has no row",
            "key " + key("c") + " is deleted, but has a row in LATEST");
  }

  @Test
  void leasesAndKeysReferToEachOther() {
    remove(Space.LEASE, StoreKeys.attachment(7, key("b")));
    write(Space.LEASE, StoreKeys.attachment(9, key("a")), Bytes.EMPTY);
    check();
    assertThat(problems)
        .containsExactly(
            "key " + key("b") + " is not attached to its lease 7",
            "key " + key("a") + " is attached to lease 9, which does not exist");
  }

  @Test
  void compactionAndMembersAreChecked() {
    write(Space.META, StoreKeys.META_COMPACTED, RowCodec.longs(99));
    write(Space.META, StoreKeys.META_COMPACTION_FINISHED, RowCodec.longs(100));
    write(Space.META, StoreKeys.META_SCHEMA, RowCodec.longs(8));
    write(Space.META, MetaRows.peerUrls(new NodeId(5)), Bytes.EMPTY);
    write(
        Space.META,
        MetaRows.member(new NodeId(6)),
        MetaRows.value(new MemberAttributes(new NodeId(6), "six", List.of())));
    check();
    MemberCheck.run(fixture.store, problems::add);
    assertThat(problems)
        .containsExactly(
            "META/schema is 8, which this program does not know",
            "compaction-finished 100 is above the compacted revision 99",
            "compacted revision 99 is above the current revision 6",
            "the members are [], but [5] have peer URLs",
            "the attributes of 6 exist, but it is no member");
  }

  @Test
  void wrongCountOfLiveKeysIsFound() {
    write(Space.META, CountRows.key(Bytes.EMPTY), CountRows.value(3));
    check();
    assertThat(problems)
        .containsExactly("the block of keys from  counts 3 live keys, LATEST has 2");
    problems.clear();
    write(Space.META, CountRows.key(Bytes.EMPTY), CountRows.value(1));
    write(Space.META, CountRows.key(key("b")), CountRows.value(1));
    check();
    assertThat(problems).isEmpty();
    remove(Space.META, CountRows.key(Bytes.EMPTY));
    check();
    assertThat(problems).containsExactly("the first block of live keys has no count");
  }

  @Test
  void wrongKindOfChangeIsFound() {
    // Revision 4 replaces the key that revision 2 created.
    write(Space.REV, StoreKeys.revision(4, 0), RowCodec.put(1, key("a")));
    check();
    assertThat(problems).hasSize(1);
    assertThat(problems.get(0)).contains("4_0").contains("another row in REV");
    OldStates.withoutCounts(fixture.store);
    problems.clear();
    check();
    assertThat(problems).as("a state whose changes do not show creations").isEmpty();
  }
}
