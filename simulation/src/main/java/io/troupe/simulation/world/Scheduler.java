package io.troupe.simulation.world;

import java.util.PriorityQueue;

/**
 * Virtual time: runs events in the order of their times. Events of the same time keep the order in
 * which they were added.
 */
public final class Scheduler {
  private record Event(long atUs, long number, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return atUs == other.atUs
          ? Long.compare(number, other.number)
          : Long.compare(atUs, other.atUs);
    }
  }

  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long nowUs;
  private long numbers;

  /** Microseconds since the beginning. */
  public long nowUs() {
    return nowUs;
  }

  /** Events so far. */
  public long eventCount() {
    return numbers - events.size();
  }

  /** Runs an action after some microseconds, 0 or more. */
  public void after(long delayUs, Runnable action) {
    if (delayUs < 0) {
      throw new IllegalArgumentException("delay " + delayUs);
    }
    events.add(new Event(nowUs + delayUs, numbers++, action));
  }

  /** Runs all events up to a time, and sets the clock to it. */
  public void runUntil(long untilUs) {
    while (!events.isEmpty() && events.element().atUs() <= untilUs) {
      Event event = events.remove();
      nowUs = event.atUs();
      event.action().run();
    }
    nowUs = untilUs;
  }
}
