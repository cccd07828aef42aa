package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Terms by index compared with a plain map. */
class TermIndexTest {
  @Property(tries = 300, seed = "20261121")
  void agreesWithMap(@ForAll long seed) {
    Random random = new Random(seed);
    long snapshot = random.nextInt(5);
    TermIndex runs = new TermIndex(snapshot, snapshot == 0 ? 0 : 1);
    TreeMap<Long, Long> map = new TreeMap<>();
    map.put(snapshot, snapshot == 0 ? 0L : 1L);
    for (int i = 0; i < 60; i++) {
      int dice = random.nextInt(10);
      if (dice == 0 && map.size() > 1) {
        long from = map.firstKey() + 1 + random.nextInt(map.size() - 1);
        runs.truncateFrom(from);
        map.tailMap(from, true).clear();
      } else if (dice == 1) {
        long to = map.firstKey() + random.nextInt(map.size());
        runs.compactTo(to);
        map.headMap(to, false).clear();
      } else {
        long term =
            map.lastEntry().getValue() + (random.nextInt(4) == 0 ? 1 + random.nextInt(2) : 0);
        runs.append(map.lastKey() + 1, term);
        map.put(map.lastKey() + 1, term);
      }
      map.forEach((index, term) -> assertThat(runs.at(index)).isEqualTo(term));
      long index = map.firstKey() + random.nextInt(map.size());
      long term = random.nextInt(12);
      long expected =
          map.headMap(index, true).descendingMap().entrySet().stream()
              .filter(e -> e.getValue() <= term)
              .map(java.util.Map.Entry::getKey)
              .findFirst()
              .orElse(map.firstKey());
      assertThat(runs.lastAtOrBelow(index, term)).isEqualTo(expected);
    }
  }
}
