package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.keys;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.plain;
import static io.troupe.mvcc.Fixture.put;
import static io.troupe.mvcc.Fixture.span;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reads of the current state from newest records, also if the records are newer than the read. */
class LatestIteratorTest {
  private final CountingStore store = new CountingStore();
  private final Fixture fixture = new Fixture(store);
  private boolean ahead;

  @Test
  void longHistoryDoesNotSlowCurrentRead() {
    for (int version = 0; version < 40; version++) {
      for (int i = 0; i < 50; i++) {
        fixture.apply(put("k" + (10 + i), "v" + version));
      }
    }
    store.steps = 0;
    RangeResult all = fixture.read(plain(span("k", "l"), 0));
    assertThat(all.kvs()).hasSize(50);
    assertThat(store.steps).isLessThanOrEqualTo(50 + 3);
    store.steps = 0;
    RangeQuery named = RangeQuery.of(span("k", "l"), all.revision());
    assertThat(fixture.read(named).kvs()).isEqualTo(all.kvs());
    assertThat(store.steps).as("the current revision by its number").isLessThanOrEqualTo(50 + 3);
    store.steps = 0;
    RangeQuery older = RangeQuery.of(span("k", "l"), all.revision() - 1);
    assertThat(fixture.read(older).kvs()).hasSize(50);
    assertThat(store.steps).as("the walk that this read avoids").isGreaterThan(3 * 50);
  }

  /** A batch committed between the view and the cursor: one key added, one removed, one changed. */
  private void writerGetsAhead() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("b", "1"));
    fixture.apply(put("c", "1"));
    store.beforeCursor =
        () -> {
          if (!ahead) {
            ahead = true;
            fixture.apply(put("aa", "2"));
            fixture.apply(delete(one("b")));
            fixture.apply(put("c", "2"));
          }
        };
  }

  @Test
  void newerWritesAreInvisible_R9() {
    writerGetsAhead();
    RangeResult found = fixture.read(plain(KeyRange.all(), 0));
    assertThat(ahead).isTrue();
    assertThat(found.revision()).isEqualTo(4);
    assertThat(keys(found)).containsExactly("a", "b", "c");
    assertThat(found.kvs()).extracting(KeyValue::modRevision).containsExactly(2L, 3L, 4L);
    assertThat(keys(fixture.read(plain(KeyRange.all(), 0)))).containsExactly("a", "aa", "c");
  }

  @Test
  void pinnedReadStaysAtItsRevision_R9() {
    writerGetsAhead();
    SnapshotRead pinned = fixture.machine.reader().pin(MemoryBudget.UNLIMITED.share());
    assertThat(keys(pinned.range(plain(KeyRange.all(), 0)))).containsExactly("a", "b", "c");
    assertThat(pinned.get(key("b"))).isNotNull();
    assertThat(pinned.get(key("aa"))).isNull();
    assertThat(pinned.isLost()).isFalse();
  }

  @Test
  void chunkOfStreamStaysAtItsRevision_GS2() {
    writerGetsAhead();
    Page page = fixture.machine.reader().page(KeyRange.all(), 4, 10, 1000, false);
    assertThat(((Page.Records) page).kvs())
        .extracting(kv -> kv.key().utf8())
        .containsExactly("a", "b", "c");
  }

  @Test
  void recreatedKeyHasNewRecord_R4() {
    fixture.apply(put("a", "1"));
    fixture.apply(delete(one("a")));
    assertThat(fixture.read(plain(KeyRange.all(), 0)).kvs()).isEmpty();
    fixture.apply(put("a", "2"));
    List<KeyValue> kvs = fixture.read(plain(KeyRange.all(), 0)).kvs();
    assertThat(kvs).hasSize(1);
    assertThat(kvs.get(0).version()).isEqualTo(1);
    assertThat(kvs.get(0).createRevision()).isEqualTo(4);
    RangeQuery deleted = RangeQuery.of(one("a"), 3);
    assertThat(((Result.Range) fixture.machine.reader().range(deleted)).range().kvs()).isEmpty();
  }
}
