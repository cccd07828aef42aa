package io.troupe.mvcc;

import io.troupe.model.Event;
import java.util.List;

/** The result of reading history (W8, W11, W12). */
public sealed interface HistoryResult {

  /**
   * Events of whole revisions, or a part of one revision.
   *
   * @param events in revision and sub-revision order; a revision's events of the requested range
   *     are all here or none is, unless {@code nextSub} is above 0: then all are of {@code
   *     nextRevision}, and more of them may follow
   * @param nextRevision revision at which to continue: every event below it was returned
   * @param nextSub sub revision in {@code nextRevision} at which to continue
   * @param storeRevision current revision at the time of the read; the reader is caught up if
   *     {@code nextRevision} is above it
   */
  record Events(List<Event> events, long nextRevision, int nextSub, long storeRevision)
      implements HistoryResult {}

  /** The requested revision is compacted: no events are returned. */
  record Compacted(long compactedRevision) implements HistoryResult {}
}
