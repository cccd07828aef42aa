package io.troupe.mvcc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * The blocks of some earlier revisions, so that a count at an old revision walks over few changes.
 * They share what did not change. Where there are very many keys, the earlier blocks are larger and
 * keep their starts while the state grows, so that enough revisions fit into the memory. If they
 * still need too much or are too many, every second one is dropped and later ones are further
 * apart. For the applying thread.
 */
final class CountHistory {
  private static final int MOST = 256;
  private static final long LEAST_DISTANCE = 4096;

  /** A walk over a part of so many merged blocks takes some ten milliseconds. */
  private static final int MOST_MERGED = 32;

  /**
   * Blocks of a revision.
   *
   * @param changes number of changes of keys from the start of the program to this revision
   * @param bytes memory that the revision kept before does not share
   */
  record Kept(long revision, long changes, KeyBlocks blocks, long bytes) {}

  private final long maxBytes;
  private final long leastDistance;
  private List<Kept> kept = List.of();
  private long bytes;
  private long distance;

  /** Keeps nothing yet. */
  CountHistory(CountBounds bounds) {
    this.maxBytes = bounds.maxBytes() / 2;
    // Small blocks, in tests: the kept revisions are as close together.
    this.leastDistance = Math.min(LEAST_DISTANCE, 8L * bounds.blockKeys());
    this.distance = leastDistance;
  }

  /** The blocks that are kept, in the order of revisions; immutable. */
  List<Kept> kept() {
    return kept;
  }

  /** Memory, in bytes. */
  long bytes() {
    return bytes;
  }

  /**
   * Drops what is compacted, and keeps the blocks of a new revision if it is far enough. The
   * distance is in changes: a count walks over them, and one revision may have very many.
   */
  void published(long revision, long changes, KeyBlocks blocks, long compacted) {
    List<Kept> next = kept;
    if (!next.isEmpty() && next.get(0).revision() < compacted) {
      next = next.stream().filter(each -> each.revision() >= compacted).toList();
      if (next.size() < MOST / 4) {
        distance = Math.max(leastDistance, distance / 2);
      }
    }
    long newest = next.isEmpty() ? 0 : next.get(next.size() - 1).changes();
    if (changes >= newest + distance) {
      List<Kept> pair = new ArrayList<>(next.subList(Math.max(0, next.size() - 1), next.size()));
      KeyBlocks before = pair.isEmpty() ? null : pair.get(0).blocks();
      pair.add(new Kept(revision, changes, blocks.merged(factor(blocks), before), 0));
      next = new ArrayList<>(next);
      next.add(withBytes(pair).get(pair.size() - 1));
      while (next.size() > MOST || (sum(next) > maxBytes && !next.isEmpty())) {
        next = everySecond(next);
        distance *= 2;
      }
    }
    if (next != kept) {
      kept = List.copyOf(next);
      bytes = sum(kept);
    }
  }

  /**
   * How many blocks become one, so that half of the most revisions fit into the memory, if each
   * shares the starts of the one before. A power of two.
   */
  private int factor(KeyBlocks blocks) {
    long most = maxBytes / (MOST / 2);
    if (blocks.bytes() <= most) {
      return 1;
    }
    long overhead = blocks.countBytes() - 4 * blocks.blocks();
    int factor = 2;
    while (factor < MOST_MERGED && overhead + 4 * blocks.blocks() / factor > most) {
      factor *= 2;
    }
    return factor;
  }

  private static long sum(List<Kept> all) {
    return all.stream().mapToLong(Kept::bytes).sum();
  }

  private static List<Kept> everySecond(List<Kept> all) {
    List<Kept> half = new ArrayList<>();
    for (int i = 1; i < all.size(); i += 2) {
      half.add(all.get(i));
    }
    return withBytes(half);
  }

  private static List<Kept> withBytes(List<Kept> all) {
    List<Kept> counted = new ArrayList<>();
    Set<Object> before = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Kept each : all) {
      Set<Object> parts = Collections.newSetFromMap(new IdentityHashMap<>());
      long bytes = 8L * each.blocks().chunks().length;
      for (BlockChunk chunk : each.blocks().chunks()) {
        boolean sharesStarts = before.contains(chunk.sharedStarts());
        bytes += before.contains(chunk) ? 0 : sharesStarts ? chunk.countBytes() : chunk.bytes();
        parts.add(chunk);
        parts.add(chunk.sharedStarts());
      }
      counted.add(new Kept(each.revision(), each.changes(), each.blocks(), bytes));
      before = parts;
    }
    return counted;
  }
}
