package io.troupe.watch;

import io.troupe.model.Event;

/**
 * Events that a watcher does not want (W14).
 *
 * @param noPut drop puts
 * @param noDelete drop deletions
 */
public record EventFilter(boolean noPut, boolean noDelete) {
  /** Accepts every event. */
  public static final EventFilter NONE = new EventFilter(false, false);

  /** True if the watcher wants the event. */
  public boolean accepts(Event event) {
    return event.type() == Event.Type.PUT ? !noPut : !noDelete;
  }
}
