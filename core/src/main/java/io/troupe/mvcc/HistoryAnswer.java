package io.troupe.mvcc;

import io.troupe.model.Event;
import java.util.List;

/** What reading history came to (W8, W11, W12). */
public sealed interface HistoryAnswer {

  /**
   * Events of whole revisions.
   *
   * @param events in revision and sub-revision order; a revision's events of the asked range are
   *     all here or none is
   * @param nextRevision where to go on: every event below it was seen
   * @param storeRevision current revision when this was read; caught up when {@code nextRevision}
   *     is above it
   */
  record Events(List<Event> events, long nextRevision, long storeRevision)
      implements HistoryAnswer {}

  /** The asked revision is compacted: nothing is told. */
  record Compacted(long compactedRevision) implements HistoryAnswer {}
}
