package io.troupe.node.malformed;

import static java.util.stream.Collectors.joining;

import io.troupe.node.process.TestJdks;
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
 * What a process holds.
 *
 * @param heapKiB after a full collection
 * @param residentKiB of the process
 * @param files that are open, without the tables of RocksDB: how many those are goes by what is
 *     stored and when it was compacted
 */
record Condition(long heapKiB, long residentKiB, long threads, long files) {
  /** The last line: objects, then bytes. */
  private static final Pattern TOTAL = Pattern.compile("Total +\\d+ +(\\d+)");

  static Condition of(TestJdks.Jdk jdk, long pid) {
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
        return new Condition(
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

  /** What takes most of the heap. */
  static String largest(TestJdks.Jdk jdk, long pid) {
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
