package io.troupe.watch;

import io.troupe.model.Event;

/**
 * Which events a watcher does not want (W14).
 *
 * @param noPut drop puts
 * @param noDelete drop deletions
 */
public record EventFilter(boolean noPut, boolean noDelete) {
  /** Lets everything pass. */
  public static final EventFilter NONE = new EventFilter(false, false);

  /** True when the event is wanted. */
  public boolean accepts(Event event) {
    return event.type() == Event.Type.PUT ? !noPut : !noDelete;
  }
}
