package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.mvcc.OrderedStore.Space;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class CompactionTest {
  private final Fixture fixture = new Fixture();

  private Result compact(long revision) {
    return fixture.result(new Operation.Compact(revision));
  }

  private List<Event> events(long from) {
    HistoryResult result =
        fixture.machine.reader().history(KeyRange.all(), from, 1000, 1 << 20, true);
    return ((HistoryResult.Events) result).events();
  }

  private List<Bytes> revisions() {
    return StoreRows.all(fixture.store, Space.REV).stream().map(StoreBatch.Change::key).toList();
  }

  @Test
  void compactZeroIsAcceptedOnceOnNewStore_C1() {
    assertThat(compact(-1)).isEqualTo(new Result.Refused(Refusal.COMPACTED));
    assertThat(compact(0)).isEqualTo(new Result.Compact(1));
    assertThat(compact(0)).isEqualTo(new Result.Refused(Refusal.COMPACTED));
    assertThat(compact(2)).isEqualTo(new Result.Refused(Refusal.FUTURE_REVISION));
    assertThat(compact(1)).isEqualTo(new Result.Compact(1));
    assertThat(fixture.machine.compactor().removeBatch(1).done()).isTrue();
  }

  @Test
  void keepsNewestVersionAndRemovesOlderOnes_C2() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("a", "2"));
    fixture.apply(put("b", "1"));
    fixture.apply(put("a", "3"));
    compact(4);
    fixture.removeAll();
    assertThat(revisions())
        .containsExactly(
            StoreKeys.revision(3, 0), StoreKeys.revision(4, 0), StoreKeys.revision(5, 0));
  }

  @Test
  void tombstoneAtCompactedRevisionStays_C2_W12() {
    fixture.apply(put("a", "1"));
    fixture.apply(delete(one("a")));
    fixture.apply(put("b", "1"));
    compact(3);
    fixture.removeAll();
    assertThat(events(3))
        .containsExactly(
            Event.delete(key("a"), 3, null),
            new Event(Event.Type.PUT, new KeyValue(key("b"), 4, 4, 1, key("1"), 0), null));
    compact(4);
    fixture.removeAll();
    assertThat(revisions()).containsExactly(StoreKeys.revision(4, 0));
  }

  @Test
  void previousRecordIsAbsentAfterCompaction_W11() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("a", "2"));
    assertThat(events(3).get(0).prev()).isNotNull();
    compact(3);
    assertThat(events(3).get(0).prev()).isNull();
    fixture.removeAll();
    assertThat(events(3).get(0).prev()).isNull();
    assertThat(fixture.machine.reader().history(KeyRange.all(), 2, 10, 10, false))
        .isEqualTo(new HistoryResult.Compacted(3));
  }

  @Test
  void removalContinuesAfterRestart_C4() {
    for (int i = 0; i < 50; i++) {
      fixture.apply(put("a", "v" + i));
    }
    compact(51);
    assertThat(fixture.machine.compactor().removeBatch(10).done()).isFalse();
    fixture.machine = new StateMachine(fixture.store, 0);
    Compactor.Progress progress = fixture.machine.compactor().removeBatch(1000);
    assertThat(progress.done()).isTrue();
    assertThat(progress.finishedRevision()).isEqualTo(51);
    assertThat(revisions()).containsExactly(StoreKeys.revision(51, 0));
    fixture.machine = new StateMachine(fixture.store, 0);
    assertThat(fixture.machine.compactor().removeBatch(1000))
        .isEqualTo(new Compactor.Progress(true, 51, 0));
  }

  @Test
  void removalCostDependsOnChangesNotOnKeys() {
    CountingStore counted = new CountingStore();
    Fixture big = new Fixture(counted);
    for (int i = 0; i < 3000; i++) {
      big.apply(put("k" + i, "v"));
    }
    big.apply(new Operation.Compact(3001));
    big.removeAll();
    big.apply(put("k7", "v"));
    big.apply(new Operation.Compact(3002));
    counted.steps = 0;
    big.removeAll();
    assertThat(counted.steps).isLessThan(25);
  }

  @Test
  void removalReadsEachKeyOnceHoweverOftenItChanged() {
    CountingStore counted = new CountingStore();
    Fixture busy = new Fixture(counted);
    for (int i = 0; i < 2000; i++) {
      busy.apply(put("k" + i % 20, "v" + i));
    }
    busy.apply(new Operation.Compact(busy.machine.currentRevision()));
    counted.steps = 0;
    counted.seeks = 0;
    long removed = 0;
    Compactor.Progress progress;
    do {
      progress = busy.machine.compactor().removeBatch(100);
      assertThat(progress.removed()).as("a step is small").isLessThanOrEqualTo(101);
      removed += progress.removed();
    } while (!progress.done());
    assertThat(removed).isEqualTo(1980);
    // The first and the last change of a key, and twice where a batch continues inside a key.
    assertThat(counted.seeks).isLessThan(20 * 2 + 20 * 2 + 1);
    assertThat(counted.steps).isLessThan(2000 * 3);
  }

  @Test
  void keysChangedInOrderNeedNoSeek() {
    CountingStore counted = new CountingStore();
    Fixture ordered = new Fixture(counted);
    for (int i = 0; i < 2000; i++) {
      ordered.apply(put(String.format("k%05d", i), "v"));
    }
    ordered.apply(new Operation.Compact(ordered.machine.currentRevision()));
    counted.steps = 0;
    counted.seeks = 0;
    assertThat(ordered.machine.compactor().remove(100, removed -> true).done()).isTrue();
    assertThat(counted.seeks).isZero();
    assertThat(counted.steps).isLessThan(2000 + 10);
  }

  /** A walk that restarted with each batch would step over the removals of earlier batches. */
  @Test
  void batchesOfOneCallShareWalkAndStopOnRequest() {
    CountingStore counted = new CountingStore();
    Fixture one = new Fixture(counted);
    for (int i = 0; i < 1000; i++) {
      one.apply(put("k", "v" + i));
    }
    one.apply(new Operation.Compact(one.machine.currentRevision()));
    int open = counted.open;
    AtomicInteger asked = new AtomicInteger();
    assertThat(one.machine.compactor().remove(10, removed -> asked.incrementAndGet() < 40))
        .isEqualTo(new Compactor.Progress(false, -1, 400));
    counted.seeks = 0;
    assertThat(one.machine.compactor().remove(10, removed -> true))
        .isEqualTo(new Compactor.Progress(true, 1001, 599));
    assertThat(counted.seeks).isLessThanOrEqualTo(2);
    assertThat(counted.open).as("those of the pending hash").isEqualTo(open);
  }

  @Test
  void hashIsTheCrcOfRevisionKeysAndRecords_MT7() {
    fixture.apply(new Operation.LeaseGrant(300, 10));
    fixture.apply(put("a", "1"));
    fixture.apply(put("b", "2", 300));
    fixture.apply(delete(one("a")));
    CRC32C crc = new CRC32C();
    crc.update("key".getBytes(StandardCharsets.UTF_8));
    crc.update(revisionKey(2, false));
    crc.update(hex("0a0161" + "1002" + "1802" + "2001" + "2a0131"));
    crc.update(revisionKey(3, false));
    crc.update(hex("0a0162" + "1003" + "1803" + "2001" + "2a0132" + "30ac02"));
    crc.update(revisionKey(4, true));
    crc.update(hex("0a0161"));
    assertThat(((HashResult.Hash) fixture.machine.reader().hash(0)).hash())
        .isEqualTo((int) crc.getValue());
  }

  private static byte[] revisionKey(long main, boolean tombstone) {
    ByteBuffer key = ByteBuffer.allocate(tombstone ? 18 : 17);
    key.putLong(main).put((byte) '_').putLong(0);
    if (tombstone) {
      key.put((byte) 't');
    }
    return key.array();
  }

  private static byte[] hex(String text) {
    return HexFormat.of().parseHex(text);
  }

  @Test
  void hashSkipsObsoleteVersions_MT7() {
    Fixture other = new Fixture();
    for (Fixture each : List.of(fixture, other)) {
      each.apply(put("a", "1"));
      each.apply(put("a", "2"));
      each.apply(put("b", "1"));
      each.apply(delete(one("b")));
      each.apply(put("c", "1"));
      each.apply(new Operation.Compact(5));
    }
    other.removeAll();
    assertThat(fixture.machine.reader().hash(0)).isEqualTo(other.machine.reader().hash(0));
    assertThat(fixture.machine.reader().hash(5)).isEqualTo(other.machine.reader().hash(5));
  }

  @Test
  void readKeepsItsViewWhileVersionsAreRemoved() {
    for (int i = 0; i < 20; i++) {
      fixture.apply(put("k" + i % 5, "v" + i));
    }
    long revision = 12;
    RangeResult before = fixture.read(RangeQuery.of(KeyRange.all(), revision));
    compact(revision);
    fixture.removeAll();
    assertThat(fixture.read(RangeQuery.of(KeyRange.all(), revision))).isEqualTo(before);
  }
}
