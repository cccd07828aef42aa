package io.troupe.watch;

import io.troupe.model.KeyRange;
import org.jspecify.annotations.Nullable;

/** A client's request to open a watcher (W1-W5). Immutable. */
public interface WatchRequest {
  /** Keys of the watcher. */
  KeyRange range();

  /** Id as the client requested; 0 lets the server choose. */
  long watchId();

  /** First revision; 0 for changes after now. */
  long startRevision();

  /** Events that the client wants. */
  EventFilter filter();

  /** True if the client wants previous records. */
  boolean prevKv();

  /** True if the client wants progress notifications (W15). */
  boolean progressNotify();

  /** True if the client accepts a revision in several responses (W17). */
  boolean fragment();

  /**
   * Reason for which the client may not watch these keys now, as text for the client (W18); null if
   * it may.
   */
  @Nullable String denied();
}
