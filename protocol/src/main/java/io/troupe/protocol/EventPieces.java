package io.troupe.protocol;

import io.troupe.model.Event;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The events of one revision for one watcher, read from history piece by piece. */
public interface EventPieces {
  /**
   * A piece.
   *
   * @param events in order; may be empty
   * @param next start of the next piece; {@link #END} if this is the last one
   */
  record Piece(List<Event> events, int next) {}

  /** {@link Piece#next} of the last piece. */
  int END = 0;

  /**
   * Reads a piece of about a megabyte.
   *
   * @param from 0 for the first piece, later {@link Piece#next} of the piece before
   * @return fails with a RefusedException if the revision is compacted
   */
  CompletionStage<Piece> read(int from);
}
