package io.troupe.tests.process;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Prints the end of the log of every process that a failed test started. The result of a failed
 * build has no other file of them. Registered for all tests of this module by {@code META-INF}.
 */
public final class FailedTestLogs implements BeforeEachCallback, TestExecutionExceptionHandler {
  private static final int MOST_PROCESSES = 12;
  private static final int MOST_LINES = 80;

  private static final List<NodeProcess> STARTED = Collections.synchronizedList(new ArrayList<>());

  /** Remembers a process until the next test of this JVM starts. */
  static void started(NodeProcess process) {
    STARTED.add(process);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    // Members that a whole class shares were started before: they stay.
    STARTED.removeIf(process -> !process.isAlive());
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    System.out.println(report(context.getDisplayName(), failure));
    throw failure;
  }

  /** The processes of a test and the last lines of their logs, in the order of their starts. */
  static String report(String test, Throwable failure) {
    List<NodeProcess> started = List.copyOf(STARTED);
    int first = Math.max(0, started.size() - MOST_PROCESSES);
    StringBuilder report = new StringBuilder();
    report.append(
        String.format(
            "%s failed: %s%n%d of the %d processes that it started:",
            test, failure, started.size() - first, started.size()));
    for (NodeProcess process : started.subList(first, started.size())) {
      report.append('\n').append(process.summary(MOST_LINES));
    }
    return report.toString();
  }

  /** The last lines of a text, and how many come before. */
  static String lastLines(String text, int most) {
    List<String> lines = text.lines().toList();
    int skipped = Math.max(0, lines.size() - most);
    return (skipped == 0 ? "" : "... " + skipped + " lines before\n")
        + String.join("\n", lines.subList(skipped, lines.size()));
  }

  /** Text of a source that may be gone already: a directory that the test deleted. */
  static String ifPresent(Supplier<String> source) {
    try {
      return source.get();
    } catch (UncheckedIOException gone) {
      return String.valueOf(gone.getMessage());
    }
  }
}
