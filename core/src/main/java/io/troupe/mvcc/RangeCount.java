package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.mvcc.KeyBlocks.Place;
import org.jspecify.annotations.Nullable;

/**
 * Counts live keys of a range at one revision. It walks over those of the first and of the last
 * block alone; for the blocks in between their counts are known, at this revision or at one nearby.
 * So the cost does not depend on the size of the range. One thread.
 */
final class RangeCount {
  /** The changes between two revisions cost less than a walk over so many keys, in any range. */
  private static final long CHEAP_CHANGES = 1024;

  private final Known known;
  private final RecordWalk walk;
  private final WalkSteps steps;
  private final @Nullable Bytes end;

  /**
   * Known counts and the way from them to the revision that is counted.
   *
   * @param revision of the blocks; {@link Long#MAX_VALUE} if they contain all changes
   * @param at the revision that is counted
   * @param distance number of revisions in between, 0 or more
   */
  record Known(KeyBlocks blocks, long revision, long at, long distance, CountChanges changes) {}

  /**
   * Prepares a count.
   *
   * @param walk over the live keys of the range at the revision; its position changes
   */
  RangeCount(Known known, KeyRange range, RecordWalk walk, WalkSteps steps) {
    this.known = known;
    this.walk = walk;
    this.steps = steps;
    this.end = range.toExclusive();
  }

  /** Keys from {@code start}, which is in the range, to its end. */
  long from(Bytes start) {
    return between(start, null);
  }

  /** Keys from {@code start} to the start of a block. */
  long between(Bytes start, @Nullable Place until) {
    Place first = blocks().find(start);
    if (isAtStart(first, start)) {
      return fromBlock(first, until, false);
    }
    return fromInside(first, until, walk.seek(start));
  }

  /** Keys after the current one of the walk, to the end of the range. */
  long afterCurrent() {
    Place current = blocks().find(walk.key());
    return fromInside(current, null, next());
  }

  /**
   * The last block from which on there are {@code wanted} keys in the range at the revision of the
   * blocks, or null if the range may have fewer after {@code start}.
   */
  @Nullable Place lastBlocksOf(long wanted, Bytes start) {
    Bytes after = end;
    Place last = after == null ? null : blocks().find(after);
    Place place = blocks().lastBlocksOf(wanted, last);
    return start(place).compareTo(start) > 0 ? place : null;
  }

  Bytes start(Place place) {
    return blocks().start(place);
  }

  private KeyBlocks blocks() {
    return known.blocks();
  }

  private boolean isAtStart(Place place, Bytes start) {
    Bytes own = start(place);
    // No key is empty: the first block starts at the first key that there can be.
    return own.equals(start) || (own.isEmpty() && start.equals(KeyRange.all().key()));
  }

  /** The row of the current revision has the empty key. */
  private boolean seek(Place block) {
    Bytes start = start(block);
    return walk.seek(start.isEmpty() ? KeyRange.all().key() : start);
  }

  private boolean next() {
    steps.step();
    return walk.next();
  }

  /** Counts from the current key of the walk on, if there is one, which is in {@code block}. */
  private long fromInside(Place block, @Nullable Place until, boolean onKey) {
    Place following = blocks().next(block);
    if (following == null || !isInRange(following)) {
      return walkToEnd(onKey);
    }
    Bytes boundary = start(following);
    long count = 0;
    boolean found = onKey;
    while (found && walk.key().compareTo(boundary) < 0) {
      count++;
      found = next();
    }
    return found ? count + fromBlock(following, until, true) : count;
  }

  private boolean isInRange(Place block) {
    Bytes after = end;
    return after == null || start(block).compareTo(after) < 0;
  }

  /**
   * Counts from the start of a block on.
   *
   * @param there true if the walk is at the first key at or after that start
   */
  private long fromBlock(Place first, @Nullable Place until, boolean there) {
    Bytes after = end;
    Place last = until != null ? until : after == null ? null : blocks().find(after);
    if (first.equals(last)) {
      return until != null ? 0 : walkToEnd(there || seek(first));
    }
    boolean endsAtBlock =
        last == null || until != null || after == null || start(last).equals(after);
    Place inside = endsAtBlock ? null : last;
    Whole whole = whole(first, last, inside);
    if (whole == null) {
      boolean onKey = there || seek(first);
      return until == null ? walkToEnd(onKey) : walkTo(start(until), onKey);
    }
    return inside != null && whole.inside() > 0
        ? whole.before() + walkToEnd(seek(inside), whole.inside())
        : whole.before();
  }

  private long walkToEnd(boolean onKey) {
    return walkToEnd(onKey, Long.MAX_VALUE);
  }

  /**
   * Counts from the current key of the walk to the end of the range.
   *
   * @param most keys that there can be. The walk ends with the last of them: behind it there may be
   *     very many keys that are not live at its revision
   */
  private long walkToEnd(boolean onKey, long most) {
    long count = onKey ? 1 : 0;
    while (count > 0 && count < most && next()) {
      count++;
    }
    return count;
  }

  private long walkTo(Bytes boundary, boolean onKey) {
    long count = 0;
    for (boolean found = onKey && walk.key().compareTo(boundary) < 0;
        found;
        found = next() && walk.key().compareTo(boundary) < 0) {
      count++;
    }
    return count;
  }

  /**
   * Keys of whole blocks at the revision that is counted.
   *
   * @param before of the blocks from one block to another
   * @param inside of the block in which the range ends; 0 without one
   */
  private record Whole(long before, long inside) {}

  /**
   * Keys of whole blocks; null if a walk over the keys is cheaper than one over the changes.
   *
   * @param last first block that does not count; null for none
   * @param inside {@code last} if the range ends inside of it, else null
   */
  private @Nullable Whole whole(Place first, @Nullable Place last, @Nullable Place inside) {
    long keys = blocks().keys(first, last);
    Place behind = inside == null ? last : blocks().next(inside);
    long keysInside = inside == null ? 0 : blocks().keys(inside, behind);
    if (known.distance() == 0) {
      return new Whole(keys, keysInside);
    }
    long most = Math.max(keys, CHEAP_CHANGES);
    if (known.distance() > most) {
      return null;
    }
    long older = Math.min(known.revision(), known.at());
    long newer = Math.max(known.revision(), known.at());
    CountChanges.Difference difference =
        known
            .changes()
            .between(older, newer, start(first), startOf(inside), startOf(behind), 2 * most);
    if (difference == null) {
      return null;
    }
    int sign = known.at() < known.revision() ? -1 : 1;
    return new Whole(keys + sign * difference.before(), keysInside + sign * difference.behind());
  }

  private @Nullable Bytes startOf(@Nullable Place block) {
    return block == null ? null : start(block);
  }
}
