package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.machine.StateMachine;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.Lease;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.ByteRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Bytes on disk: a change here is a new schema. */
class StoreKeysTest {
  private static String hex(Bytes bytes) {
    return HexFormat.of().formatHex(bytes.toArray());
  }

  @Test
  void goldenRows() {
    Bytes key = Bytes.of('a', 0, 'b');
    assertThat(hex(StoreKeys.row(key, 5, 2, false)))
        .isEqualTo("6100ff62" + "0000" + "fffffffffffffffa" + "fffffffd" + "01");
    assertThat(hex(StoreKeys.row(Bytes.utf8("k"), 1L << 40, 0, true)))
        .isEqualTo("6b" + "0000" + "fffffeffffffffff" + "ffffffff" + "00");
    assertThat(hex(RowCodec.record(300, 2, -1, Bytes.utf8("v"))))
        .isEqualTo("ac02" + "02" + "ffffffffffffffffff01" + "76");
    KeyValue newest = new KeyValue(key, 300, 301, 2, Bytes.utf8("v"), -1);
    assertThat(hex(RowCodec.latest(newest, 3)))
        .isEqualTo("00" + "ad02" + "03" + "ac02" + "02" + "ffffffffffffffffff01" + "76");
    assertThat(RowCodec.latest(key, OldStates.latest(newest)).kv()).isEqualTo(newest);
    assertThat(hex(OldStates.latest(newest)))
        .isEqualTo("ad02" + "ac02" + "02" + "ffffffffffffffffff01" + "76");
    assertThat(hex(StoreKeys.revision(258, 3))).isEqualTo("0000000000000102" + "00000003");
    assertThat(hex(RowCodec.deletion(key))).isEqualTo("00" + "610062");
    assertThat(hex(RowCodec.put(2, key))).isEqualTo("01" + "610062");
    assertThat(hex(RowCodec.put(1, key))).isEqualTo("02" + "610062");
    assertThat(hex(StoreKeys.grant(7))).isEqualTo("01" + "0000000000000007");
    assertThat(hex(RowCodec.grant(new Lease(7, 60, 5)))).isEqualTo("3c05");
    assertThat(hex(StoreKeys.attachment(7, key))).isEqualTo("02" + "0000000000000007" + "610062");
    assertThat(hex(MetaRows.alarm(new AlarmMember(new NodeId(9), AlarmType.CORRUPT))))
        .isEqualTo(hex(Bytes.utf8("alarm/")) + "0000000000000009" + "02");
    assertThat(hex(MetaRows.member(new NodeId(9))))
        .isEqualTo(hex(Bytes.utf8("member/")) + "0000000000000009");
    assertThat(hex(MetaRows.peerUrls(new NodeId(9))))
        .isEqualTo(hex(Bytes.utf8("peer-urls/")) + "0000000000000009");
    assertThat(hex(MetaRows.value(new MemberAttributes(new NodeId(9), "m", List.of("u:1")))))
        .isEqualTo("00000001" + "6d" + "00000003" + "753a31");
  }

  @Test
  void goldenRowsOfSmallState() {
    InMemoryOrderedStore store = new InMemoryOrderedStore();
    StateMachine machine = new StateMachine(store, 0);
    machine.noop(1, 1);
    machine.apply(2, 3, new Operation.Put(Bytes.utf8("k"), Bytes.EMPTY, 0, false, false, false));
    machine.apply(3, 3, new Operation.Compact(2));
    NodeId nine = new NodeId(9);
    List<ConfChange> changes =
        List.of(new ConfChange(ConfChange.Kind.ADD_VOTER, nine, List.of("u:1", "u:2")));
    machine.confChange(4, 3, new ConfEntry(null, changes, Membership.EMPTY.after(changes, 4)));
    machine.apply(5, 3, new Operation.PublishMember(nine, "m", List.of("c")));
    machine.commit();
    machine.compactor().removeBatch(10);
    assertThat(rows(store, Space.LATEST))
        .containsExactly("=" + "0000000000000002", "k=" + "00" + "02" + "00" + "02" + "01" + "00");
    assertThat(rows(store, Space.META))
        .containsExactly(
            "applied="
                + ("0000000000000005" + "0000000000000003" + "813006750d8f5b63")
                + "0000000000000001",
            "compacted=" + "0000000000000002",
            "compaction-finished=" + "0000000000000002",
            "count/=" + "01",
            MetaRows.member(nine) + "=" + "00000001" + "6d" + "00000001" + "63",
            "membership="
                + "01"
                + "0000000000000004"
                + ("00000001" + "0000000000000009")
                + "00000000".repeat(4),
            MetaRows.peerUrls(nine) + "=" + ("00000003" + "753a31") + ("00000003" + "753a32"),
            "schema=" + "000000000000000b");
    assertThat(rows(store, Space.KEY)).isEmpty();
  }

  private static List<String> rows(OrderedStore store, Space space) {
    List<String> rows = new ArrayList<>();
    for (StoreBatch.Change row : StoreRows.all(store, space)) {
      Bytes value = row.value();
      rows.add(row.key() + "=" + (value == null ? "" : hex(value)));
    }
    return rows;
  }

  @Test
  void rejectsOtherSchema() {
    InMemoryOrderedStore store = new InMemoryOrderedStore();
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, StoreKeys.META_SCHEMA, RowCodec.longs(2));
    store.write(batch);
    assertThatThrownBy(() -> new StateMachine(store, 0))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("schema 2");
  }

  /** The key with which a walk over LATEST continues at a position of KEY. */
  @Property(tries = 2000)
  void positionsInKeyShowTheFirstKey(
      @ForAll @Size(min = 1, max = 4) byte @ByteRange(min = -1, max = 1) [] bytes,
      @ForAll @LongRange(min = 0, max = 300) long main) {
    Bytes key = Bytes.copyOf(bytes);
    assertThat(StoreKeys.firstKeyFrom(StoreKeys.firstOf(key))).isEqualTo(key);
    assertThat(StoreKeys.firstKeyFrom(StoreKeys.newestAt(key, main))).isEqualTo(key);
    assertThat(StoreKeys.firstKeyFrom(StoreKeys.row(key, main, 1, true))).isEqualTo(key);
    assertThat(StoreKeys.firstKeyFrom(StoreKeys.after(key))).isEqualTo(key.successor());
    assertThat(StoreKeys.firstKeyFrom(Bytes.EMPTY)).isEqualTo(Bytes.EMPTY);
  }

  @Property(tries = 2000)
  void rowsSortByKeyThenNewestFirst_R10(
      @ForAll @Size(min = 1, max = 4) byte @ByteRange(min = -1, max = 1) [] one,
      @ForAll @Size(min = 1, max = 4) byte @ByteRange(min = -1, max = 1) [] two,
      @ForAll @LongRange(min = 0, max = 3) long main,
      @ForAll @LongRange(min = 0, max = 3) long otherMain) {
    Bytes a = Bytes.copyOf(one);
    Bytes b = Bytes.copyOf(two);
    Bytes rowA = StoreKeys.row(a, main, 1, false);
    Bytes rowB = StoreKeys.row(b, otherMain, 1, true);
    int keys = Integer.signum(a.compareTo(b));
    int expected = keys != 0 ? keys : Long.compare(otherMain, main);
    int rows = StoreKeys.sameKey(rowA, rowB) && main == otherMain ? 0 : rowA.compareTo(rowB);
    assertThat(Integer.signum(rows)).isEqualTo(expected);
    assertThat(StoreKeys.userKey(rowA)).isEqualTo(a);
    assertThat(StoreKeys.main(rowA)).isEqualTo(main);
    assertThat(StoreKeys.sub(rowA)).isEqualTo(1);
    assertThat(StoreKeys.firstOf(a)).isLessThanOrEqualTo(rowA);
    assertThat(StoreKeys.after(a)).isGreaterThan(rowA).isEqualTo(StoreKeys.afterRow(rowA));
    assertThat(StoreKeys.newestAt(a, main)).isLessThanOrEqualTo(rowA);
    if (main > 0) {
      assertThat(StoreKeys.newestAt(a, main - 1)).isGreaterThan(rowA);
    }
    if (keys < 0) {
      assertThat(StoreKeys.after(a)).isLessThanOrEqualTo(StoreKeys.firstOf(b));
    }
  }

  @Property(tries = 500)
  void recordsSurviveRoundTrip(
      @ForAll @LongRange(min = 0) long create,
      @ForAll @LongRange(min = 1) long version,
      @ForAll long lease,
      @ForAll @Size(max = 20) byte[] value) {
    Bytes row = StoreKeys.row(Bytes.utf8("key"), 77, 0, false);
    Bytes record = RowCodec.record(create, version, lease, Bytes.copyOf(value));
    assertThat(RowCodec.keyValue(row, record))
        .isEqualTo(
            new KeyValue(Bytes.utf8("key"), create, 77, version, Bytes.copyOf(value), lease));
    KeyValue bare = new KeyValue(Bytes.utf8("key"), create, 77, version, Bytes.EMPTY, 0);
    assertThat(RowCodec.keyOnly(row, record)).isEqualTo(bare);
    KeyValue whole = RowCodec.keyValue(row, record);
    int sub = (int) (version % Integer.MAX_VALUE);
    Bytes latest = RowCodec.latest(whole, sub);
    assertThat(RowCodec.latest(whole.key(), latest)).isEqualTo(new NewestRecord(whole, sub));
    assertThat(RowCodec.latestKeyOnly(whole.key(), latest)).isEqualTo(bare);
    assertThat(RowCodec.versionOfLatest(latest)).isEqualTo(record);
    Bytes old = OldStates.latest(whole);
    assertThat(RowCodec.latest(whole.key(), old))
        .isEqualTo(new NewestRecord(whole, NewestRecord.IN_HISTORY));
    assertThat(RowCodec.latestKeyOnly(whole.key(), old)).isEqualTo(bare);
  }

  @Test
  void damagedRecordsAreDetected() {
    Bytes row = StoreKeys.row(Bytes.utf8("key"), 77, 0, false);
    assertThatThrownBy(() -> RowCodec.keyValue(row, Bytes.of(0x80)))
        .isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> StoreKeys.userKey(Bytes.wrap("x".getBytes(StandardCharsets.UTF_8))))
        .isInstanceOf(StoreException.class);
  }
}
