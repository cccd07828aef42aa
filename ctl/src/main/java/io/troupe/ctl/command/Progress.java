package io.troupe.ctl.command;

import io.troupe.ctl.cli.Console;
import io.troupe.ctl.text.Sizes;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/**
 * A line on standard error that shows the state of work that takes longer than a second. Draws on a
 * terminal only. Thread-safe.
 */
final class Progress implements AutoCloseable {
  private static final long FIRST_MS = 1000;
  private static final long INTERVAL_MS = 200;
  private static final int WIDTH = 30;

  private final Console console;
  private final String title;
  private final LongFunction<String> unit;
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong total = new AtomicLong();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final long start = System.nanoTime();
  private final Object monitor = new Object();
  private boolean drawn;

  private Progress(Console console, String title, long total, LongFunction<String> unit) {
    this.console = console;
    this.title = title;
    this.unit = unit;
    this.total.set(total);
    if (console.isTerminal()) {
      Session.THREADS.execute(this::draw);
    }
  }

  /** Work of unknown length: shows the elapsed seconds. */
  static Progress spinner(Console console, String title) {
    return new Progress(console, title, 0, Long::toString);
  }

  /** Work of {@code total} steps. */
  static Progress of(Console console, String title, long total) {
    return new Progress(console, title, total, Long::toString);
  }

  /** A transfer; the total may be set later. */
  static Progress bytes(Console console, String title) {
    return new Progress(console, title, 0, Sizes::format);
  }

  void add(long steps) {
    done.addAndGet(steps);
  }

  void total(long steps) {
    total.set(steps);
  }

  private void draw() {
    synchronized (monitor) {
      try {
        long delay = FIRST_MS;
        while (!closed.get()) {
          monitor.wait(delay);
          delay = INTERVAL_MS;
          if (!closed.get()
              && TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) >= FIRST_MS) {
            drawn = true;
            console.errorPart("\r" + text() + "\u001b[K");
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private String text() {
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
    return line(title, done.get(), total.get(), seconds, unit);
  }

  /** The line without control characters. */
  static String line(String title, long done, long total, long seconds, LongFunction<String> unit) {
    if (total <= 0) {
      String amount = done == 0 ? "" : unit.apply(done) + " ";
      return title + " " + amount + seconds + "s";
    }
    double share = Math.min(1, (double) done / total);
    int full = (int) (share * WIDTH);
    return String.format(
        Locale.ROOT,
        "%s [%s%s] %3.0f%% %s/%s %ds",
        title,
        "=".repeat(full),
        " ".repeat(WIDTH - full),
        share * 100,
        unit.apply(done),
        unit.apply(total),
        seconds);
  }

  /** Removes the line. */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    synchronized (monitor) {
      monitor.notifyAll();
      if (drawn) {
        console.errorPart("\r\u001b[K");
      }
    }
  }
}
