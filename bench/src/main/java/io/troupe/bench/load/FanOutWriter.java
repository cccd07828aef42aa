package io.troupe.bench.load;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;

/**
 * One writer of the watch profile. It has one put unacknowledged at a time, and may be a number of
 * puts ahead of the slowest watcher: the next put waits until the oldest of those is acknowledged
 * and has reached every watcher. The load therefore shows what the server can deliver, the backlog
 * is bounded, and lost or repeated events are detected. Called from any number of threads.
 */
final class FanOutWriter {
  private final int watchers;
  private final int ahead;
  private final Window window;
  private final IntConsumer put;
  private final Runnable finished;
  private final Recorder recorder = new Recorder();

  /**
   * Missing events and acknowledgement of a put, in a ring of puts; the send times are in a second
   * ring.
   */
  private final AtomicIntegerArray missing;

  private final long[] started;
  private volatile int sent;
  private volatile int completed;
  private boolean unacknowledged;
  private boolean done;

  /**
   * Creates a writer.
   *
   * @param ahead maximum number of incomplete puts, 1 or more; 1 is lock step
   * @param put sends the put of this number; the first is 1; not called for the next put before
   *     {@link #acknowledged}
   * @param finished runs once, when the window has ended and all sent puts are complete
   */
  FanOutWriter(int watchers, int ahead, Window window, IntConsumer put, Runnable finished) {
    this.watchers = watchers;
    this.ahead = ahead;
    this.window = window;
    this.put = put;
    this.finished = finished;
    this.missing = new AtomicIntegerArray(ahead);
    this.started = new long[ahead];
  }

  /** Sends what may be sent now. */
  void go() {
    int number;
    synchronized (this) {
      if (done || unacknowledged) {
        return;
      }
      long now = System.nanoTime();
      if (!window.open(now)) {
        if (sent > completed) {
          return;
        }
        done = true;
        number = 0;
      } else if (sent - completed >= ahead) {
        return;
      } else {
        number = sent + 1;
        started[number % ahead] = now;
        missing.set(number % ahead, watchers + 1);
        unacknowledged = true;
        sent = number;
      }
    }
    if (number == 0) {
      finished.run();
    } else {
      put.accept(number);
    }
  }

  /** The put that was sent last is acknowledged. */
  void acknowledged() {
    int number;
    synchronized (this) {
      number = sent;
      unacknowledged = false;
    }
    arrived(number);
    go();
  }

  /**
   * A watcher has the event of that put.
   *
   * @return false if that put is complete already or was never sent
   */
  boolean delivered(int number) {
    if (number > sent || number <= completed) {
      return false;
    }
    if (arrived(number)) {
      go();
    }
    return true;
  }

  private boolean arrived(int number) {
    // Read before the count: afterwards another thread may give this place to a later put.
    long since = started[number % ahead];
    if (missing.decrementAndGet(number % ahead) != 0) {
      return false;
    }
    synchronized (this) {
      long now = System.nanoTime();
      if (window.contains(now)) {
        recorder.latency(now - since);
      }
      // Every watcher gets a writer's events in their order, so puts are complete in their order.
      completed = Math.max(completed, number);
    }
    return true;
  }

  /** Latencies from sending a put to its last watcher; read when it has finished. */
  Recorder recorder() {
    return recorder;
  }
}
