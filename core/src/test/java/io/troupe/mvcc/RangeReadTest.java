package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.keys;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.plain;
import static io.troupe.mvcc.Fixture.put;
import static io.troupe.mvcc.Fixture.query;
import static io.troupe.mvcc.Fixture.span;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeQuery.SortOrder;
import io.troupe.model.RangeQuery.SortTarget;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RangeReadTest {
  private static final KeyRange ALL = KeyRange.all();
  private final Fixture fixture = new Fixture();

  /** k0..k9, with values in reverse order. */
  private void tenKeys() {
    for (int i = 0; i < 10; i++) {
      fixture.apply(put("k" + i, "v" + (9 - i)));
    }
  }

  private Result at(KeyRange range, long revision) {
    return fixture.machine.reader().range(RangeQuery.of(range, revision));
  }

  @Test
  void freshStoreHasRevisionOne_R1() {
    assertThat(fixture.read(plain(ALL, 0)).revision()).isEqualTo(1);
    assertThat(fixture.machine.reader().view().compactedRevision()).isEqualTo(-1);
    assertThat(fixture.apply(put("a", "1")).revision()).isEqualTo(2);
  }

  @Test
  void revisionZeroOrBelowIsCurrent_G2() {
    fixture.apply(put("a", "1"));
    assertThat(at(one("a"), -7)).isEqualTo(at(one("a"), 0));
    assertThat(at(one("a"), 3)).isEqualTo(new Result.Refused(Refusal.FUTURE_REVISION));
    fixture.apply(put("a", "2"));
    fixture.apply(new Operation.Compact(3));
    assertThat(at(one("a"), 2)).isEqualTo(new Result.Refused(Refusal.COMPACTED));
    assertThat(at(one("a"), 3)).isInstanceOf(Result.Range.class);
    fixture.removeAll();
    assertThat(at(one("a"), 3)).isInstanceOf(Result.Range.class);
  }

  private @Nullable RangeResult inMemory(KeyRange range, long revision) {
    return fixture.machine.reader().rangeInMemory(RangeQuery.of(range, revision));
  }

  @Test
  void newestRecordOfOneKeyIsReadFromMemory_G2() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("b", "1"));
    fixture.apply(put("a", "2"));
    fixture.apply(delete(one("b")));
    for (long revision : new long[] {0, 4, 5}) {
      assertThat(new Result.Range(Objects.requireNonNull(inMemory(one("a"), revision))))
          .isEqualTo(at(one("a"), revision));
    }
    RangeResult absent = Objects.requireNonNull(inMemory(one("b"), 0));
    assertThat(new Result.Range(absent)).isEqualTo(at(one("b"), 0));
    assertThat(absent.kvs()).isEmpty();
  }

  @Test
  void otherRangesAreNotReadFromMemory() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("a", "2"));
    assertThat(inMemory(one("a"), 2)).as("an older version").isNull();
    assertThat(inMemory(one("a"), 4)).as("a revision of the future").isNull();
    assertThat(inMemory(ALL, 0)).as("more keys than one").isNull();
    assertThat(inMemory(one("c"), 0)).as("a key without a record").isNull();
    fixture.apply(new Operation.Compact(3));
    assertThat(inMemory(one("a"), 2)).as("a compacted revision").isNull();
    assertThat(inMemory(one("a"), 3)).isNotNull();
  }

  @Test
  void headerHasCurrentRevisionNotRequestedOne_R5() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("a", "2"));
    RangeResult old = ((Result.Range) at(one("a"), 2)).range();
    assertThat(old.revision()).isEqualTo(3);
    assertThat(old.kvs()).containsExactly(new KeyValue(key("a"), 2, 2, 1, key("1"), 0));
  }

  @Test
  void limitCutsAndCountDoesNot_G3G4() {
    tenKeys();
    RangeResult result = fixture.read(plain(ALL, 3));
    assertThat(keys(result)).containsExactly("k0", "k1", "k2");
    assertThat(result.more()).isTrue();
    assertThat(result.count()).isEqualTo(10);
    assertThat(fixture.read(plain(ALL, 10)).more()).isFalse();
    assertThat(fixture.read(plain(ALL, -1)).kvs()).hasSize(10);
  }

  @Test
  void countIgnoresFiltersAndFiltersPrecedeLimit_G4_G7() {
    tenKeys();
    RangeQuery filtered =
        new RangeQuery(ALL, 2, 0, SortOrder.NONE, SortTarget.KEY, false, false, 5, 8, 0, 0);
    RangeResult result = fixture.read(filtered);
    assertThat(keys(result)).containsExactly("k3", "k4");
    assertThat(result.more()).isTrue();
    assertThat(result.count()).isEqualTo(10);
    RangeQuery created =
        new RangeQuery(ALL, 0, 0, SortOrder.NONE, SortTarget.KEY, false, false, 0, 0, 10, 10);
    assertThat(keys(fixture.read(created))).containsExactly("k8");
    RangeQuery point =
        new RangeQuery(one("k1"), 0, 0, SortOrder.NONE, SortTarget.KEY, false, false, 9, 0, 0, 0);
    assertThat(fixture.read(point)).isEqualTo(new RangeResult(11, List.of(), false, 1));
  }

  @Test
  void countOnlyGivesNoRecords_G5() {
    tenKeys();
    RangeQuery count =
        new RangeQuery(ALL, 3, 0, SortOrder.NONE, SortTarget.KEY, false, true, 5, 0, 0, 0);
    assertThat(fixture.read(count)).isEqualTo(new RangeResult(11, List.of(), false, 10));
  }

  @Test
  void keysOnlyHasNoLeaseUnlessSortedByValue_G6() {
    fixture.apply(new Operation.LeaseGrant(5, 10));
    fixture.apply(put("a", "1", 5));
    KeyValue bare = new KeyValue(key("a"), 2, 2, 1, Bytes.EMPTY, 0);
    KeyValue leased = new KeyValue(key("a"), 2, 2, 1, Bytes.EMPTY, 5);
    for (KeyRange range : new KeyRange[] {ALL, one("a")}) {
      assertThat(fixture.read(query(range, 0, SortOrder.NONE, SortTarget.KEY, true)).kvs())
          .containsExactly(bare);
      assertThat(fixture.read(query(range, 0, SortOrder.NONE, SortTarget.VALUE, true)).kvs())
          .containsExactly(leased);
    }
  }

  @Test
  void orderNoneSortsByTargetAfterLimit_G8() {
    tenKeys();
    RangeResult none = fixture.read(query(ALL, 2, SortOrder.NONE, SortTarget.VALUE, false));
    assertThat(keys(none)).containsExactly("k2", "k1");
    assertThat(none.more()).isTrue();
    RangeResult ascending = fixture.read(query(ALL, 2, SortOrder.ASCEND, SortTarget.VALUE, false));
    assertThat(keys(ascending)).containsExactly("k9", "k8");
    RangeResult descending = fixture.read(query(ALL, 2, SortOrder.DESCEND, SortTarget.MOD, false));
    assertThat(keys(descending)).containsExactly("k9", "k8");
    RangeResult lastKeys = fixture.read(query(ALL, 2, SortOrder.DESCEND, SortTarget.KEY, false));
    assertThat(keys(lastKeys)).containsExactly("k9", "k8");
    assertThat(lastKeys.more()).isTrue();
    assertThat(lastKeys.count()).isEqualTo(10);
    RangeQuery filtered =
        new RangeQuery(ALL, 2, 0, SortOrder.NONE, SortTarget.VALUE, false, false, 1, 0, 0, 0);
    assertThat(keys(fixture.read(filtered))).containsExactly("k9", "k8");
  }

  @Test
  void missingKeysAndInvertedRangesAreEmpty_G10_K3() {
    tenKeys();
    RangeResult nothing = new RangeResult(11, List.of(), false, 0);
    assertThat(fixture.read(plain(one("x"), 0))).isEqualTo(nothing);
    assertThat(fixture.read(plain(span("k5", "k5"), 0))).isEqualTo(nothing);
    assertThat(fixture.read(plain(span("k5", "k1"), 0))).isEqualTo(nothing);
    assertThat(fixture.read(plain(span("k5", "k7"), 0)).count()).isEqualTo(2);
    assertThat(fixture.read(plain(new KeyRange(key("k8"), Bytes.of(0)), 0)).count()).isEqualTo(2);
  }

  @Test
  void pagesOfPinnedRevisionAreCountedOnce_G4() {
    CountingStore counted = new CountingStore();
    Fixture big = new Fixture(counted);
    for (int i = 0; i < 2000; i++) {
      big.apply(put("p" + (10_000 + i), "v"));
    }
    long revision = big.machine.currentRevision();
    counted.steps = 0;
    Bytes next = key("p");
    long seen = 0;
    while (next != null) {
      KeyRange rest = new KeyRange(next, key("q"));
      RangeResult page =
          big.read(
              new RangeQuery(
                  rest, 100, revision, SortOrder.NONE, SortTarget.KEY, false, false, 0, 0, 0, 0));
      assertThat(page.count()).isEqualTo(2000 - seen);
      seen += page.kvs().size();
      next = page.more() ? page.kvs().get(page.kvs().size() - 1).key().successor() : null;
    }
    assertThat(seen).isEqualTo(2000);
    // Parts of two blocks once for the count of the first page, and all rows for the pages.
    assertThat(counted.steps).isLessThan(2000 + 2 * 1024 + 3 * 20);
    counted.steps = 0;
    big.read(
        new RangeQuery(
            span("p", "q"), 0, revision, SortOrder.NONE, SortTarget.KEY, false, true, 0, 0, 0, 0));
    // The walk is opened at its revision, and no key is checked.
    assertThat(counted.steps).isLessThanOrEqualTo(1);
  }

  @Test
  void pointReadOfLongHistoryIsOneStep() {
    CountingStore counted = new CountingStore();
    Fixture hot = new Fixture(counted);
    for (int i = 0; i < 500; i++) {
      hot.apply(put("hot", "v" + i));
    }
    hot.apply(put("next", "v"));
    counted.steps = 0;
    assertThat(hot.read(RangeQuery.of(one("hot"), 100)).kvs().get(0).value()).isEqualTo(key("v98"));
    assertThat(counted.steps).isEqualTo(1);
    counted.steps = 0;
    assertThat(keys(hot.read(RangeQuery.of(span("hot", "z"), 0)))).containsExactly("hot", "next");
    assertThat(counted.steps).isLessThan(10);
  }

  @Test
  void pagesStopAtTheirLimits_GS4() {
    tenKeys();
    MvccReader reader = fixture.machine.reader();
    Page.Records byCount = (Page.Records) reader.page(ALL, 11, 4, 1 << 20, false);
    assertThat(byCount.kvs()).hasSize(4);
    assertThat(byCount.next()).isEqualTo(key("k4"));
    Page.Records byBytes = (Page.Records) reader.page(ALL, 11, 100, 5, false);
    assertThat(byBytes.kvs()).hasSize(2);
    assertThat(byBytes.bytes()).isEqualTo(8);
    assertThat(((Page.Records) reader.page(ALL, 11, 1, 0, true)).kvs()).hasSize(1);
    fixture.apply(put("k0", "later"));
    assertThat(((Page.Records) reader.page(ALL, 11, 100, 1 << 20, false)).next()).isNull();
    fixture.apply(new Operation.Compact(12));
    assertThat(reader.page(ALL, 11, 4, 1, false)).isEqualTo(new Page.Refused(Refusal.COMPACTED));
    assertThat(reader.page(ALL, 99, 4, 1, false))
        .isEqualTo(new Page.Refused(Refusal.FUTURE_REVISION));
  }

  @Test
  void sortedPagesEqualRangesWithLimitAndTerminate_GS7() {
    tenKeys();
    MvccReader reader = fixture.machine.reader();
    for (SortTarget target : SortTarget.values()) {
      for (int limit = 1; limit <= 11; limit++) {
        Bytes from = ALL.key();
        while (from != null) {
          KeyRange rest = new KeyRange(from, ALL.rangeEnd());
          Page.Records page = (Page.Records) reader.page(rest, 11, limit, 1 << 20, true, target);
          RangeResult range = fixture.read(query(rest, limit, SortOrder.NONE, target, true));
          assertThat(page.kvs()).as("%s by %s", target, limit).isEqualTo(range.kvs());
          assertThat(page.next() != null).isEqualTo(range.more());
          assertThat(page.next() == null || page.next().compareTo(from) > 0).isTrue();
          from = page.next();
        }
      }
    }
    Page.Records byBytes = (Page.Records) reader.page(ALL, 11, 100, 8, false, SortTarget.VALUE);
    assertThat(byBytes.kvs()).extracting(KeyValue::key).containsExactly(key("k2"), key("k1"));
    assertThat(byBytes.bytes()).isEqualTo(8);
    assertThat(byBytes.next()).isEqualTo(key("k1").successor());
  }

  @Test
  void deletedKeysStayReadableAtOlderRevisions_R4() {
    fixture.apply(put("a", "1"));
    fixture.apply(delete(one("a")));
    fixture.apply(put("a", "2"));
    assertThat(fixture.read(RangeQuery.of(one("a"), 3)).count()).isZero();
    assertThat(fixture.read(RangeQuery.of(one("a"), 0)).kvs())
        .containsExactly(new KeyValue(key("a"), 4, 4, 1, key("2"), 0));
  }
}
