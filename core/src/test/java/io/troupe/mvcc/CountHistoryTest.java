package io.troupe.mvcc;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.mvcc.BlockChunk.Block;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Blocks of a growing, of a shrinking and of a changing state: which earlier counts are kept, their
 * memory, and that each agrees with the blocks that it was made from.
 */
class CountHistoryTest {
  private static final int STEP = 32;
  private static final int NUMBERS = 1_000_000_000;

  /** Live keys of each block, by its start. */
  private final TreeMap<Bytes, Integer> blocks = new TreeMap<>();

  /** The blocks of each revision. */
  private final Map<Long, TreeMap<Bytes, Integer>> at = new HashMap<>();

  private SplittableRandom random = new SplittableRandom();
  private CountHistory history = new CountHistory(new CountBounds(4, 0));
  private long revision;
  private BlockChunk[] chunks = new BlockChunk[0];

  private void start(long seed, long historyBytes) {
    random = new SplittableRandom(seed);
    blocks.clear();
    blocks.put(Bytes.EMPTY, 1);
    at.clear();
    history = new CountHistory(new CountBounds(4, 2 * historyBytes));
    revision = 0;
    chunks = new BlockChunk[0];
  }

  private static Bytes start(int number) {
    return Bytes.utf8("%010d".formatted(number));
  }

  private static int number(@Nullable Bytes start) {
    return start == null
        ? NUMBERS
        : start.isEmpty() ? 0 : Integer.parseInt(new String(start.toArray(), US_ASCII));
  }

  private Bytes randomStart() {
    Bytes start = blocks.floorKey(start(random.nextInt(NUMBERS)));
    return start == null ? Bytes.EMPTY : start;
  }

  /** Adds or removes keys; blocks of eight are split, empty ones disappear. */
  private void change(double creations) {
    for (int i = 0; i < STEP; i++) {
      Bytes start = randomStart();
      int count = blocks.getOrDefault(start, 0);
      if (random.nextDouble() >= creations) {
        count = Math.max(0, count - 1);
        if (count == 0 && !start.isEmpty()) {
          blocks.remove(start);
          continue;
        }
      } else if (++count >= 8) {
        int low = number(start);
        int high = number(blocks.higherKey(start));
        if (high - low > 1) {
          blocks.put(start(low + 1 + random.nextInt(high - low - 1)), count / 2);
          count -= count / 2;
        }
      }
      blocks.put(start, count);
    }
  }

  /** Chunks keep their bounds until they are full, as those of the writer. */
  private KeyBlocks published() {
    TreeMap<Bytes, List<Block>> groups = new TreeMap<>();
    groups.put(Bytes.EMPTY, new ArrayList<>());
    for (BlockChunk chunk : chunks) {
      if (blocks.containsKey(chunk.start(0))) {
        groups.put(chunk.start(0), new ArrayList<>());
      }
    }
    long keys = 0;
    for (Map.Entry<Bytes, Integer> block : blocks.entrySet()) {
      groups.floorEntry(block.getKey()).getValue().add(new Block(block.getKey(), block.getValue()));
      keys += block.getValue();
    }
    List<BlockChunk> made = new ArrayList<>();
    for (List<Block> group : groups.values()) {
      int pieces = (group.size() + BlockChunk.MOST_BLOCKS - 1) / BlockChunk.MOST_BLOCKS;
      for (int i = 0; i < pieces; i++) {
        int from = group.size() * i / pieces;
        made.add(BlockChunk.of(group.subList(from, group.size() * (i + 1) / pieces)));
      }
    }
    chunks = made.toArray(new BlockChunk[0]);
    for (BlockChunk chunk : chunks) {
      chunk.share();
    }
    return new KeyBlocks(chunks, keys);
  }

  private void publish(double creations) {
    change(creations);
    revision++;
    at.put(revision, new TreeMap<>(blocks));
    history.published(revision, revision * STEP, published(), 0);
  }

  private void check(long seed) {
    for (CountHistory.Kept kept : history.kept()) {
      TreeMap<Bytes, Integer> exact = Objects.requireNonNull(at.get(kept.revision()));
      long keys = 0;
      for (int i = 0; i < kept.blocks().chunks().length; i++) {
        BlockChunk chunk = kept.blocks().chunks()[i];
        for (int slot = 0; slot < chunk.size(); slot++) {
          KeyBlocks.Place place = new KeyBlocks.Place(i, slot);
          KeyBlocks.Place next = kept.blocks().next(place);
          Map<Bytes, Integer> own =
              next == null
                  ? exact.tailMap(chunk.start(slot))
                  : exact.subMap(chunk.start(slot), kept.blocks().start(next));
          int sum = own.values().stream().mapToInt(Integer::intValue).sum();
          assertThat(chunk.count(slot)).as("seed %d block %s", seed, place).isEqualTo(sum);
          keys += sum;
        }
      }
      assertThat(kept.blocks().keys()).as("seed %d", seed).isEqualTo(keys);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {2_000, 30_000, 200_000, 10_000_000})
  void keptCountsAreExactAndBounded_G4(long bytes) {
    for (long seed = 1; seed <= 3; seed++) {
      start(seed, bytes);
      for (double creations : new double[] {0.9, 0.5, 0.1, 0.7}) {
        for (int i = 0; i < 120; i++) {
          publish(creations);
          assertThat(history.bytes()).as("seed %d", seed).isLessThanOrEqualTo(bytes);
        }
        check(seed);
      }
    }
  }

  /** With starts of its own, each earlier revision would need more than three times as much. */
  @Test
  void earlierRevisionsShareStartsWhileTheStateGrows_G4() {
    start(1, 400_000);
    for (int i = 0; i < 1000; i++) {
      publish(1);
    }
    check(1);
    long blocksNow = blocks.size();
    assertThat(blocksNow).isGreaterThan(3000);
    // With 18 bytes for each block there would be 40 revisions at most.
    assertThat(history.kept()).hasSizeGreaterThan(60);
    long kept = history.kept().get(history.kept().size() - 1).blocks().blocks();
    assertThat(kept).isGreaterThan(blocksNow / 64);
  }
}
