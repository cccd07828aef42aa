package io.troupe.node;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A standard stream for libraries that print: each line becomes one of the log, so that all that
 * comes out of the process has the log's form.
 */
final class StrayLines extends OutputStream {
  private final Logger log;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  private StrayLines(String name) {
    this.log = LoggerFactory.getLogger(name);
  }

  /** Takes the place of both streams of the process. */
  static void capture() {
    System.setOut(new PrintStream(new StrayLines("stdout"), true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(new StrayLines("stderr"), true, StandardCharsets.UTF_8));
  }

  @Override
  public synchronized void write(int b) {
    if (b != '\n') {
      line.write(b);
      return;
    }
    String text = line.toString(StandardCharsets.UTF_8).stripTrailing();
    line.reset();
    if (!text.isEmpty()) {
      log.info("{}", text);
    }
  }
}
