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
final class StdStreamRedirect extends OutputStream {
  private final Logger log;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  private StdStreamRedirect(String name) {
    this.log = LoggerFactory.getLogger(name);
  }

  /** Takes the place of both streams of the process. */
  static void capture() {
    System.setOut(new PrintStream(new StdStreamRedirect("stdout"), true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(new StdStreamRedirect("stderr"), true, StandardCharsets.UTF_8));
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
