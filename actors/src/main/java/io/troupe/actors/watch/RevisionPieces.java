package io.troupe.actors.watch;

import io.troupe.model.Event;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Refusal;
import io.troupe.mvcc.HistoryResult;
import io.troupe.mvcc.MvccReader;
import io.troupe.mvcc.MvccReader.HistoryLimits;
import io.troupe.protocol.EventPieces;
import io.troupe.protocol.RefusedException;
import io.troupe.watch.WatchRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The events of one large revision for one watcher. Each piece is one read of history. A read waits
 * for memory; the last piece counts until the next one is requested.
 */
final class RevisionPieces implements EventPieces {
  private static final HistoryLimits PIECE = new HistoryLimits(1, 512 << 10, 512 << 10);

  /** A client that accepts fragments gets a piece when the next one is read. */
  private static final long RESERVED = 1 << 20;

  private static final long RETRY_MS = 100;

  private final MvccReader reader;
  private final WatchRequest watcher;
  private final long revision;
  private final Executor reads;
  private final Executor later;
  private final MemoryBudget.Share memory;

  /** Bytes of the last piece. One read at a time. */
  private volatile long reserved;

  RevisionPieces(
      MvccReader reader,
      WatchRequest watcher,
      long revision,
      Executor reads,
      MemoryBudget.Share memory) {
    this.reader = reader;
    this.watcher = watcher;
    this.revision = revision;
    this.reads = reads;
    this.later = CompletableFuture.delayedExecutor(RETRY_MS, TimeUnit.MILLISECONDS, reads);
    this.memory = memory;
  }

  @Override
  public CompletionStage<Piece> read(int from) {
    release();
    return CompletableFuture.supplyAsync(() -> reserved(from), reads).thenCompose(piece -> piece);
  }

  private CompletionStage<Piece> reserved(int from) {
    reserved = memory.reserve(RESERVED);
    if (reserved > 0) {
      return CompletableFuture.completedFuture(piece(from));
    }
    if (memory.isClosed()) {
      return CompletableFuture.failedFuture(new RefusedException(Refusal.STOPPED));
    }
    return CompletableFuture.supplyAsync(() -> reserved(from), later).thenCompose(piece -> piece);
  }

  private void release() {
    memory.release(reserved);
    reserved = 0;
  }

  private Piece piece(int from) {
    HistoryResult result = reader.history(watcher.range(), revision, from, PIECE, watcher.prevKv());
    if (!(result instanceof HistoryResult.Events read)) {
      throw new RefusedException(Refusal.COMPACTED);
    }
    List<Event> events = new ArrayList<>(read.events().size());
    for (Event event : read.events()) {
      // The last read may continue into later revisions.
      if (event.kv().modRevision() == revision && watcher.filter().accepts(event)) {
        events.add(event);
      }
    }
    int next = read.nextRevision() == revision ? read.nextSub() : END;
    if (next == END) {
      release();
    }
    return new Piece(events, next);
  }
}
