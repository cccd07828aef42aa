package io.troupe.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds what a server left in this JVM. */
final class Remains {
  /**
   * Threads of libraries that the JVM has once, whatever the number of servers: of Chronicle, of
   * the JDK for processes, and of the JDK's common pool.
   */
  private static final List<String> ONCE_PER_JVM =
      List.of("background~resource~releaser", "process reaper", "ForkJoinPool.commonPool");

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final Path MAPPINGS = Path.of("/proc/self/maps");

  private final Set<Thread> threads = Thread.getAllStackTraces().keySet();

  /** Returns the names of threads that are new since the constructor. */
  Set<String> newThreads() {
    Set<Thread> now = new HashSet<>(Thread.getAllStackTraces().keySet());
    now.removeAll(threads);
    return now.stream()
        .map(Thread::getName)
        .filter(name -> ONCE_PER_JVM.stream().noneMatch(name::startsWith))
        .collect(Collectors.toSet());
  }

  /** Returns the directories of servers of this JVM. */
  static List<Path> directories() {
    try (Stream<Path> all = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return all.filter(each -> each.getFileName().toString().startsWith(TemporaryData.PREFIX))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns files of servers that this JVM has open or mapped; on Linux. */
  static List<String> openFiles() {
    try (Stream<Path> open = Files.list(DESCRIPTORS);
        Stream<String> mapped = Files.lines(MAPPINGS)) {
      return Stream.concat(open.map(Remains::target), mapped)
          .filter(each -> each.contains(TemporaryData.PREFIX))
          // The code of RocksDB, loaded once per JVM.
          .filter(each -> !each.contains("/cache/rocksdbjni"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A descriptor may be closed meanwhile. */
  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException closed) {
      return "";
    }
  }
}
