package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The hash of a compaction that is not computed yet, with the content as it was before anything was
 * removed. Holds frozen cursors: the owner computes the hash or drops it, once.
 */
final class PendingHash {
  private final HistoryCursors cursors;
  private final long compactedBefore;
  private final long revision;
  private final CompletableFuture<HashResult.Hash> made = new CompletableFuture<>();

  /**
   * Freezes the content.
   *
   * @param compactedBefore compacted revision until this compaction, -1 before the first
   * @param revision new compacted revision; nothing above {@code compactedBefore} is removed yet
   */
  PendingHash(OrderedStore store, long compactedBefore, long revision) {
    this.compactedBefore = compactedBefore;
    this.revision = revision;
    this.cursors = HistoryCursors.openLong(store, Bytes.EMPTY, StoreKeys.revision(revision + 1, 0));
  }

  long revision() {
    return revision;
  }

  /** Computes the hash, for the caller and all callers of {@link #await}; slow. */
  HashResult.Hash make(HashWindows windows) {
    try (cursors) {
      int crc = KvHash.compute(cursors, compactedBefore, revision, windows);
      HashResult.Hash hash = new HashResult.Hash(crc, compactedBefore, revision, revision);
      made.complete(hash);
      return hash;
    } catch (RuntimeException | Error failure) {
      made.completeExceptionally(failure);
      throw failure;
    }
  }

  /** Waits for the hash that another thread computes. */
  HashResult.Hash await() {
    try {
      return made.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof StoreException failure) {
        throw failure;
      }
      throw failed;
    }
  }

  /** Releases the content; no caller computes this hash or waits for it. */
  void drop() {
    cursors.close();
  }
}
