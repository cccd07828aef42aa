package io.troupe.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SyncedWatchersTest {
  private static final KeyRange A = KeyRange.single(Bytes.utf8("a"));
  private final SyncedWatchers<String> watchers = new SyncedWatchers<>();

  private List<String> match(String key, long revision) {
    return match(watchers, Bytes.utf8(key), revision);
  }

  /** The watchers that get an event. */
  private static <W> List<W> match(SyncedWatchers<W> watchers, Bytes key, long revision) {
    List<W> found = new ArrayList<>();
    watchers.collect(event(key, revision));
    watchers.drain(
        (watcher, events) -> {
          assertThat(events).hasSize(1);
          found.add(watcher);
        });
    return found;
  }

  private static Event event(Bytes key, long revision) {
    return new Event(
        Event.Type.PUT, new KeyValue(key, revision, revision, 1, Bytes.EMPTY, 0), null);
  }

  @Test
  void collectedEventsArePassedOnceInTheirOrder() {
    watchers.add("a", A, 6);
    watchers.add("all", KeyRange.all(), 7);
    List<Event> events =
        List.of(event(Bytes.utf8("a"), 6), event(Bytes.utf8("b"), 7), event(Bytes.utf8("a"), 8));
    events.forEach(watchers::collect);
    Map<String, List<Event>> drained = new LinkedHashMap<>();
    watchers.drain(
        (watcher, its) -> drained.put(watcher, its.stream().map(SharedEvent::event).toList()));
    assertThat(drained)
        .containsExactly(
            Map.entry("a", List.of(events.get(0), events.get(2))),
            Map.entry("all", List.of(events.get(1), events.get(2))));
    watchers.drain((watcher, its) -> fail("%s got events twice", watcher));
  }

  /**
   * So their responses are encoded once. A watcher that needs fewer events gets a list of its own.
   */
  @Test
  void watchersOfRangeShareEvents() {
    for (KeyRange range : List.of(A, KeyRange.all())) {
      SyncedWatchers<String> same = new SyncedWatchers<>();
      same.add("one", range, 5);
      same.add("later", range, 7);
      same.add("two", range, 6);
      same.add("last", range, 9);
      List.of(6L, 7L, 8L).forEach(at -> same.collect(event(Bytes.utf8("a"), at)));
      Map<String, SharedEvents> drained = new LinkedHashMap<>();
      same.drain(drained::put);
      assertThat(drained.keySet()).containsExactly("one", "later", "two");
      assertThat(drained.get("two")).hasSize(3).isSameAs(drained.get("one"));
      assertThat(drained.get("later"))
          .extracting(e -> e.event().kv().modRevision())
          .containsExactly(7L, 8L);
    }
  }

  @Test
  void syncedWatcherGetsEventsFromItsRevisionOn_W3() {
    watchers.add("now", A, 6);
    watchers.add("later", A, 9);
    assertThat(match("a", 6)).containsExactly("now");
    assertThat(match("a", 9)).containsExactlyInAnyOrder("now", "later");
    assertThat(match("b", 9)).isEmpty();
    assertThat(watchers.remove("now")).isTrue();
    assertThat(watchers.remove("now")).isFalse();
    assertThat(match("a", 8)).isEmpty();
  }

  @Test
  void overlappingReturnsWatchersOfTheRangeThatNeedTheRevision() {
    watchers.add("a", A, 6);
    watchers.add("later", A, 9);
    watchers.add("all", KeyRange.all(), 1);
    watchers.add("b", KeyRange.single(Bytes.utf8("b")), 1);
    KeyRange range = new KeyRange(Bytes.utf8("a"), Bytes.utf8("b"));
    assertThat(watchers.overlapping(range, 8)).containsExactly("a", "all");
    assertThat(watchers.size()).isEqualTo(4);
  }

  @Test
  void watcherJoinsOnce() {
    watchers.add("w", A, 1);
    assertThatThrownBy(() -> watchers.add("w", A, 1)).isInstanceOf(IllegalArgumentException.class);
    KeyRange empty = new KeyRange(Bytes.utf8("b"), Bytes.utf8("a"));
    assertThatThrownBy(() -> watchers.add("x", empty, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void matchesEqualLinearSearch() {
    for (long seed = 1; seed <= 60; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      SyncedWatchers<Integer> watchers = new SyncedWatchers<>();
      Map<Integer, KeyRange> naive = new TreeMap<>();
      for (int i = 0; i < 400; i++) {
        int watcher = random.nextInt(60);
        if (random.nextInt(3) == 0) {
          assertThat(watchers.remove(watcher)).isEqualTo(naive.remove(watcher) != null);
        } else if (!naive.containsKey(watcher)) {
          KeyRange range = range(random);
          if (!range.isEmpty()) {
            watchers.add(watcher, range, 1);
            naive.put(watcher, range);
          }
        }
        Bytes key = key(random);
        List<Integer> found = match(watchers, key, 1);
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

  /** Clients choose the keys. With a list of equal hashes this test would take minutes. */
  @Test
  void keysOfEqualHashDoNotSlowLookup() {
    SyncedWatchers<Integer> same = new SyncedWatchers<>();
    int keys = 1 << 16;
    for (int i = 0; i < keys; i++) {
      same.add(i, KeyRange.single(equalHash(i)), 1);
    }
    assertThat(equalHash(1)).hasSameHashCodeAs(equalHash(keys - 1));
    for (int i = 0; i < keys; i++) {
      assertThat(match(same, equalHash(i), 1)).containsExactly(i);
    }
  }

  /** "Aa" and "BB" have one hash, so have all strings of them. */
  private static Bytes equalHash(int number) {
    StringBuilder key = new StringBuilder();
    for (int bit = 0; bit < 16; bit++) {
      key.append((number >> bit & 1) == 0 ? "Aa" : "BB");
    }
    return Bytes.utf8(key.toString());
  }
}
