package io.troupe.actors.watch;

import io.troupe.model.Event;
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

/** The events of one large revision for one watcher. Each piece is one read of history. */
final class RevisionPieces implements EventPieces {
  private static final HistoryLimits PIECE = new HistoryLimits(1, 1 << 20, 1 << 20);

  private final MvccReader reader;
  private final WatchRequest watcher;
  private final long revision;
  private final Executor reads;

  RevisionPieces(MvccReader reader, WatchRequest watcher, long revision, Executor reads) {
    this.reader = reader;
    this.watcher = watcher;
    this.revision = revision;
    this.reads = reads;
  }

  @Override
  public CompletionStage<Piece> read(int from) {
    return CompletableFuture.supplyAsync(() -> piece(from), reads);
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
    return new Piece(events, read.nextRevision() == revision ? read.nextSub() : END);
  }
}
