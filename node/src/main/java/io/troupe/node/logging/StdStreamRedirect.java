package io.troupe.node.logging;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Redirects a standard stream to the log, for libraries that print: each line becomes a log line,
 * so that all output of the process has the form of the log.
 */
final class StdStreamRedirect extends OutputStream {
  private final Logger log;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  private StdStreamRedirect(String name) {
    this.log = LoggerFactory.getLogger(name);
  }

  /** Replaces both standard streams of the process. */
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
