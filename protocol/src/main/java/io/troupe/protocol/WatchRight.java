package io.troupe.protocol;

import io.troupe.model.KeyRange;
import org.jspecify.annotations.Nullable;

/** Whether a client may watch, by the state as it is when it is asked. Thread-safe and quick. */
public interface WatchRight {
  /** Everybody may. */
  WatchRight ALL = range -> null;

  /** Why not, in the words for the client (W18); null if it may. */
  @Nullable String refusal(KeyRange range);
}
