package io.troupe.mvcc;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The hashes of the last compactions (MT6). Each covers the content before its compaction removed
 * anything, and is computed under the compacted revision that was valid until then. So HashKV of a
 * revision gives the same result before and after the revision is compacted, on every member that
 * has the hash.
 *
 * <p>The writer freezes the content when a compaction is applied; any other thread computes the
 * hash later. Neither waits for the other, and the removal waits for none. At most one frozen
 * content is pending, that of the newest compaction: if compactions arrive faster than hashes are
 * computed, some have no hash. Nothing of this is on disk: after a restart a member has no hashes.
 */
final class CompactionHashes implements AutoCloseable {
  private static final int REMEMBERED = 10;

  private final HashWindows windows = new HashWindows();
  private final TreeMap<Long, HashResult.Hash> remembered = new TreeMap<>();

  /** By revision: the pending one and those that are being computed. */
  private final Map<Long, PendingHash> pending = new HashMap<>();

  private @Nullable PendingHash waiting;
  private boolean closed;

  /** The windows of all hashes of this store. */
  HashWindows windows() {
    return windows;
  }

  /** Called by the writer when a compaction is applied and not yet visible to readers. */
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
   * Returns the hash of the compaction of exactly {@code revision}. If it is not computed yet,
   * computes it or waits for the thread that does.
   *
   * @return null if there is none
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

  /** Computes the pending hash; null if none is pending. */
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
      hash = mine.make(windows);
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

  /** The computed hashes, newest first, at most ten. */
  synchronized List<HashResult.Hash> newestFirst() {
    return List.copyOf(remembered.descendingMap().values());
  }

  /** Releases the store; a computation in progress stops with the store. */
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
