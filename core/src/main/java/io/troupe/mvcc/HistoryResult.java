package io.troupe.mvcc;

import io.troupe.model.Event;
import java.util.List;

/** What reading history came to (W8, W11, W12). */
public sealed interface HistoryResult {

  /**
   * Events of whole revisions, or a part of one revision.
   *
   * @param events in revision and sub-revision order; a revision's events of the asked range are
   *     all here or none is, unless {@code nextSub} is above 0: then all are of {@code
   *     nextRevision}, and more of them may follow
   * @param nextRevision where to read on: every event below it was seen
   * @param nextSub sub revision in {@code nextRevision} to read on from
   * @param storeRevision current revision when this was read; caught up when {@code nextRevision}
   *     is above it
   */
  record Events(List<Event> events, long nextRevision, int nextSub, long storeRevision)
      implements HistoryResult {}

  /** The asked revision is compacted: nothing is told. */
  record Compacted(long compactedRevision) implements HistoryResult {}
}
