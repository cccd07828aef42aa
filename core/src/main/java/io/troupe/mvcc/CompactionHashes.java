package io.troupe.mvcc;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The hashes of the last compactions (MT6): each of the content before its compaction removed
 * anything, under the compacted revision that was valid until then. So HashKV of a revision answers
 * the same before and after the revision is compacted, on every member that remembers it.
 *
 * <p>The writer freezes the content when a compaction is applied; any other thread hashes it later.
 * Neither waits for the other, and removal waits for none. One frozen content waits at most, that
 * of the newest compaction: of compactions that come faster than hashes some are not remembered.
 * Nothing of this is on disk: after a restart a member does not remember.
 */
final class CompactionHashes implements AutoCloseable {
  private static final int REMEMBERED = 10;

  private final TreeMap<Long, HashResult.Hash> remembered = new TreeMap<>();

  /** By revision: the one that waits and those that are being made. */
  private final Map<Long, PendingHash> pending = new HashMap<>();

  private @Nullable PendingHash waiting;
  private boolean closed;

  /** The writer's: a compaction was applied, and readers do not see it yet. */
  void begin(PendingHash next) {
    PendingHash given;
    synchronized (this) {
      given = closed ? next : waiting;
      if (given != null) {
        pending.remove(given.revision());
      }
      if (!closed) {
        waiting = next;
        pending.put(next.revision(), next);
      }
    }
    if (given != null) {
      given.drop();
    }
  }

  /**
   * The hash of the compaction of exactly {@code revision}; made now, or waited for, if it is not
   * made yet.
   *
   * @return null if it is not remembered
   */
  HashResult.@Nullable Hash find(long revision) {
    PendingHash asked;
    boolean mine;
    synchronized (this) {
      HashResult.Hash known = remembered.get(revision);
      if (known != null) {
        return known;
      }
      asked = pending.get(revision);
      if (asked == null) {
        return null;
      }
      mine = asked == waiting;
      if (mine) {
        waiting = null;
      }
    }
    return mine ? make(asked) : asked.await();
  }

  /** Makes the hash that waits; null if none does. */
  HashResult.@Nullable Hash makeNext() {
    PendingHash next;
    synchronized (this) {
      next = waiting;
      waiting = null;
    }
    return next == null ? null : make(next);
  }

  private HashResult.Hash make(PendingHash mine) {
    HashResult.Hash hash = null;
    try {
      hash = mine.make();
      return hash;
    } finally {
      made(mine, hash);
    }
  }

  private synchronized void made(PendingHash mine, HashResult.@Nullable Hash hash) {
    pending.remove(mine.revision());
    if (hash != null) {
      remembered.put(hash.hashRevision(), hash);
      if (remembered.size() > REMEMBERED) {
        remembered.pollFirstEntry();
      }
    }
  }

  /** Those that are made, newest first, at most ten. */
  synchronized List<HashResult.Hash> newestFirst() {
    return List.copyOf(remembered.descendingMap().values());
  }

  /** Releases the store; what is being made ends with the store. */
  @Override
  public void close() {
    PendingHash given;
    synchronized (this) {
      closed = true;
      given = waiting;
      waiting = null;
      if (given != null) {
        pending.remove(given.revision());
      }
    }
    if (given != null) {
      given.drop();
    }
  }
}
