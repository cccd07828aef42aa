package io.troupe.tests.process;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The resources that a process holds.
 *
 * @param heapKiB live heap after a full collection, in KiB
 * @param residentKiB resident memory, in KiB
 * @param threads threads of the process
 * @param files open files without the table files of RocksDB, whose number depends on the stored
 *     data and on its compactions
 */
public record ProcessResources(long heapKiB, long residentKiB, long threads, long files) {
  /** The last line: objects, then bytes. */
  private static final Pattern TOTAL = Pattern.compile("Total +\\d+ +(\\d+)");

  /**
   * Runs a full collection in a process and reads its resources.
   *
   * @param jdk the JDK that runs the process
   * @throws IllegalStateException if {@code jcmd} fails
   */
  public static ProcessResources of(TestJdks.Jdk jdk, long pid) {
    try {
      ask(jdk, pid, "GC.run");
      Matcher total = TOTAL.matcher(ask(jdk, pid, "GC.class_histogram"));
      if (!total.find()) {
        throw new IllegalStateException("a histogram without its sum");
      }
      long heap = Long.parseLong(total.group(1));
      Path process = Path.of("/proc", Long.toString(pid));
      String status = Files.readString(process.resolve("status"));
      try (Stream<Path> open = Files.list(process.resolve("fd"))) {
        return new ProcessResources(
            heap >> 10,
            figure(status, "VmRSS:"),
            figure(status, "Threads:"),
            open.filter(file -> !isTable(file)).count());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isTable(Path open) {
    try {
      return Files.readSymbolicLink(open).toString().endsWith(".sst");
    } catch (NoSuchFileException closed) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The classes that use most of the heap, largest first. */
  public static String largest(TestJdks.Jdk jdk, long pid) {
    try {
      return ask(jdk, pid, "GC.class_histogram").lines().limit(40).collect(joining("\n"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long figure(String status, String name) {
    return status
        .lines()
        .filter(line -> line.startsWith(name))
        .map(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
        .findFirst()
        .orElseThrow();
  }

  private static String ask(TestJdks.Jdk jdk, long pid, String what) throws IOException {
    Process jcmd =
        new ProcessBuilder(jdk.home().resolve("bin/jcmd").toString(), Long.toString(pid), what)
            .redirectErrorStream(true)
            .start();
    String said = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (!jcmd.waitFor(1, TimeUnit.MINUTES) || jcmd.exitValue() != 0) {
        throw new IllegalStateException("jcmd " + what + ": " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return said;
  }
}
