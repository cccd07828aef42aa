package io.troupe.protocol;

import io.troupe.model.KeyRange;
import org.jspecify.annotations.Nullable;

/** Checks that a client may watch, in the current state. Thread-safe and quick. */
public interface WatchRight {
  /** Every client may watch. */
  WatchRight ALL = range -> null;

  /** Reason for a refusal, as text for the client (W18); null if the client may watch. */
  @Nullable String refusal(KeyRange range);
}
