package io.troupe.simulation.world;

import java.util.PriorityQueue;

/** Virtual time: what is to happen, in order. What is due at the same time keeps its order. */
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

  /** Has something happen after some microseconds, 0 or more. */
  public void after(long delayUs, Runnable action) {
    if (delayUs < 0) {
      throw new IllegalArgumentException("delay " + delayUs);
    }
    events.add(new Event(nowUs + delayUs, numbers++, action));
  }

  /** Lets everything happen that is due up to a time; it is that time then. */
  public void runUntil(long untilUs) {
    while (!events.isEmpty() && events.element().atUs() <= untilUs) {
      Event event = events.remove();
      nowUs = event.atUs();
      event.action().run();
    }
    nowUs = untilUs;
  }
}
