package io.troupe.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class WatcherGroupsTest {
  private static final KeyRange A = KeyRange.single(Bytes.utf8("a"));
  private final WatcherGroups<String> groups = new WatcherGroups<>();

  private List<String> match(String key, long revision) {
    List<String> found = new ArrayList<>();
    groups.forEachMatch(Bytes.utf8(key), revision, found::add);
    return found;
  }

  @Test
  void syncedWatcherGetsEventsFromItsRevisionOn_W3() {
    assertThat(groups.add("now", A, 6, 5)).isTrue();
    assertThat(groups.add("later", A, 9, 5)).isTrue();
    assertThat(match("a", 6)).containsExactly("now");
    assertThat(match("a", 9)).containsExactlyInAnyOrder("now", "later");
    assertThat(match("b", 9)).isEmpty();
    assertThat(groups.remove("now")).isTrue();
    assertThat(groups.remove("now")).isFalse();
    assertThat(match("a", 8)).isEmpty();
  }

  @Test
  void laggingWatcherReadsHistoryFirst_W8() {
    assertThat(groups.add("old", A, 3, 5)).isFalse();
    assertThat(groups.add("older", KeyRange.all(), 2, 5)).isFalse();
    assertThat(match("a", 6)).isEmpty();
    assertThat(groups.nextUnsynced(1))
        .containsExactly(new WatcherGroups.Place<>("older", KeyRange.all(), 2));
    assertThat(groups.move("older", 4, 6)).isFalse();
    assertThat(groups.nextUnsynced(9))
        .extracting(WatcherGroups.Place::watcher)
        .containsExactly("old", "older");
    assertThat(groups.move("older", 7, 6)).isTrue();
    assertThat(match("a", 7)).containsExactly("older");
    assertThat(groups.syncedCount()).isEqualTo(1);
    assertThat(groups.unsyncedCount()).isEqualTo(1);
    // It lags: it leaves the synced group and reads history from its position.
    assertThat(groups.move("older", 8, 20)).isFalse();
    assertThat(match("a", 21)).isEmpty();
    assertThat(groups.isSynced("older")).isFalse();
    assertThat(groups.find("older"))
        .isEqualTo(new WatcherGroups.Place<>("older", KeyRange.all(), 8));
    assertThat(groups.move("gone", 8, 20)).isFalse();
    assertThat(groups.find("gone")).isNull();
  }

  @Test
  void compactionRemovesWatchersThatNeedOlderRevisions_W12() {
    groups.add("two", A, 2, 10);
    groups.add("five", A, 5, 10);
    groups.add("synced", A, 11, 10);
    assertThat(groups.removeCompacted(2)).isEmpty();
    assertThat(groups.removeCompacted(5)).containsExactly("two");
    assertThat(groups.removeCompacted(10)).containsExactly("five");
    assertThat(groups.removeCompacted(11)).isEmpty();
    assertThat(groups.find("two")).isNull();
    assertThat(match("a", 11)).containsExactly("synced");
  }

  @Test
  void watcherJoinsOnce() {
    groups.add("w", A, 1, 0);
    assertThatThrownBy(() -> groups.add("w", A, 1, 0)).isInstanceOf(IllegalArgumentException.class);
    KeyRange empty = new KeyRange(Bytes.utf8("b"), Bytes.utf8("a"));
    assertThatThrownBy(() -> groups.add("x", empty, 1, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void matchesEqualLinearSearch() {
    for (long seed = 1; seed <= 60; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      WatcherGroups<Integer> groups = new WatcherGroups<>();
      Map<Integer, KeyRange> naive = new TreeMap<>();
      for (int i = 0; i < 400; i++) {
        int watcher = random.nextInt(60);
        if (random.nextInt(3) == 0) {
          assertThat(groups.remove(watcher)).isEqualTo(naive.remove(watcher) != null);
        } else if (!naive.containsKey(watcher)) {
          KeyRange range = range(random);
          if (!range.isEmpty()) {
            groups.add(watcher, range, 1, 0);
            naive.put(watcher, range);
          }
        }
        Bytes key = key(random);
        List<Integer> found = new ArrayList<>();
        groups.forEachMatch(key, 1, found::add);
        List<Integer> expected = new ArrayList<>();
        naive.forEach(
            (each, range) -> {
              if (range.contains(key)) {
                expected.add(each);
              }
            });
        assertThat(found).as("seed=%d", seed).containsExactlyInAnyOrderElementsOf(expected);
      }
    }
  }

  private static Bytes key(SplittableRandom random) {
    return random.nextBoolean()
        ? Bytes.of(random.nextInt(6))
        : Bytes.of(random.nextInt(6), random.nextInt(3));
  }

  private static KeyRange range(SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> KeyRange.single(key(random));
      case 1 -> new KeyRange(key(random), Bytes.of(0));
      default -> new KeyRange(key(random), key(random));
    };
  }

  @Test
  void lookupDoesNotVisitAllWatchers() {
    IntervalIndex<Integer> index = new IntervalIndex<>();
    for (int i = 0; i < 100_000; i++) {
      Bytes key = Bytes.of(i >> 16, (i >> 8) & 0xff, i & 0xff);
      index.add(new KeyRange(key, key.successor()), i);
    }
    List<Integer> found = new ArrayList<>();
    for (int i = 0; i < 200_000; i++) {
      index.forEachAt(Bytes.of(1, (i >> 8) & 0x7f, i & 0xff), found::add);
    }
    assertThat(found).hasSize(200_000);
  }
}
