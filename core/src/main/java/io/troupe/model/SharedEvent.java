package io.troupe.model;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An event for many watchers. Stores its encoded form, so that it is encoded once for all of them.
 * Thread-safe: two threads that encode at the same time write equal bytes.
 */
public final class SharedEvent {
  private final Event event;
  private volatile byte @Nullable [] withPrev;
  private volatile byte @Nullable [] withoutPrev;

  public SharedEvent(Event event) {
    this.event = event;
  }

  /** The event itself. */
  public Event event() {
    return event;
  }

  /**
   * The encoded form; must not be written to.
   *
   * @param prevKv with the previous record
   * @param encoder used if the event is not encoded yet
   */
  public byte[] encoded(boolean prevKv, Function<Event, byte[]> encoder) {
    byte[] known = prevKv ? withPrev : withoutPrev;
    if (known == null) {
      if (prevKv) {
        known = encoder.apply(event);
        withPrev = known;
      } else {
        known =
            encoder.apply(event.prev() == null ? event : new Event(event.type(), event.kv(), null));
        withoutPrev = known;
      }
    }
    return known;
  }
}
