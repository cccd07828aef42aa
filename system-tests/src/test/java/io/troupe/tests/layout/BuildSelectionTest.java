package io.troupe.tests.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A plain build stays short and needs no root: of the tests that start processes it runs only the
 * chosen ones. All others have the tag {@code full} (docs/campaigns/README.md). Reads the sources
 * of the tests of all modules.
 */
class BuildSelectionTest {
  /** Test classes with processes that a plain build runs, at least in part. */
  private static final Set<String> CHOSEN =
      Set.of(
          // Restart, exit codes, logs; a failover; a kill during a compaction.
          "NodeProcessIT",
          "MemberProcessIT",
          "FirstStartIT",
          "TimeWithoutLeaderIT",
          "CompactionResumeIT",
          // Clients: etcdctl with users and with TLS, jetcd, curl; one kind of attack.
          "EtcdctlIT",
          "EtcdctlAuthIT",
          "EtcdctlTlsIT",
          "JetcdIT",
          "UnixSocketTest",
          "JsonStreamConformanceTest",
          "HostileFramesIT",
          // The jar and the scripts that users start.
          "RunnableJarIT",
          "LauncherIT",
          // One process without a member.
          "CompilerOptionsTest",
          "DataDirTest",
          "KillTest",
          "ProgramTest",
          "InterruptedRunTest",
          "FreePortTest",
          "FailedTestLogsTest",
          // Only the tests of these classes that start no process.
          "MemoryLockTest",
          "RocksStoreTest");

  /** Classes with processes that the profile small-heap repeats: the heap matters to them. */
  private static final Set<String> REPEATED_WITH_SMALL_HEAP =
      Set.of(
          // Load, and what it leaves on disk.
          "CrashCampaignIT",
          "CompactionResumeIT",
          "DiskBoundsIT",
          "FullStateDiskIT",
          // Clusters under load and faults.
          "ClusterCampaignIT",
          "ClusterGrowthIT",
          "FailoverIT",
          // Attacks in the plain build, memory.
          "HostileFramesIT",
          "ResponseMemoryIT");

  /** The store of the conformance tests is a process only if a property names an etcd. */
  private static final String STORE = "ServedStore";

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  /** Names of the classes that Surefire and Failsafe run. */
  private static final Pattern RUN = Pattern.compile("(Test|IT)$");

  private static final Pattern COMMENT = Pattern.compile("(?m)^ */\\*[\\s\\S]*?\\*/|^ *//.*$");
  private static final Pattern TYPE = Pattern.compile("\\b[A-Z]\\w+");
  private static final Pattern TEST = Pattern.compile("(?m)^  @(Parameterized|Repeated)?Test\\b");
  private static final Pattern FULL = Pattern.compile("@(Tag\\(\"full\"\\)|NeedsRoot)");
  private static final Pattern FULL_CLASS = Pattern.compile("(?m)^" + FULL.pattern());
  private static final Pattern ROOT_COMMAND =
      Pattern.compile("\"(mount|unshare|losetup|fsfreeze)\"|new LoopDisk\\(");

  /** A heap of a member: a JVM option, or a size in quotes. */
  private static final Pattern HEAP = Pattern.compile("-Xmx|\"[1-9][0-9]*m\"");

  private static final Pattern OWN_HEAP = Pattern.compile("(?m)^@OwnHeap$");
  private static final Pattern RUNS_ONCE =
      Pattern.compile("(?m)^@(OwnHeap|HeapIndependent|Tag\\(\"heap-independent\"\\))$");

  /** Test sources without comments, by the name of the class; equal names are joined. */
  private static Map<String, String> sources() throws IOException {
    Map<String, String> sources = new TreeMap<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path folder : modules.map(module -> module.resolve("src/test/java")).toList()) {
        if (!Files.isDirectory(folder)) {
          continue;
        }
        try (Stream<Path> files = Files.walk(folder)) {
          for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
            String text = COMMENT.matcher(Files.readString(file)).replaceAll("");
            String name = file.getFileName().toString().replace(".java", "");
            sources.merge(name, text, String::concat);
          }
        }
      }
    }
    sources.remove(BuildSelectionTest.class.getSimpleName());
    return sources;
  }

  /** Whether a plain build runs a test of the class: the annotations of one have no tag. */
  private static boolean runsInPlainBuild(String source) {
    return !FULL_CLASS.matcher(source).find()
        && TEST.matcher(source)
            .results()
            .anyMatch(
                test -> {
                  String before = source.substring(0, test.start());
                  int start = Math.max(before.lastIndexOf("\n\n"), before.lastIndexOf(";\n"));
                  int end = source.indexOf(" void ", test.start());
                  return !FULL.matcher(source.substring(start + 1, end)).find();
                });
  }

  private static Set<String> types(String source) {
    return TYPE.matcher(source).results().map(name -> name.group()).collect(Collectors.toSet());
  }

  /** Whether a class, or test code that it uses, starts processes. */
  private static boolean startsProcesses(String test, Map<String, Set<String>> types) {
    Set<String> seen = new HashSet<>(Set.of(test, STORE));
    Deque<String> next = new ArrayDeque<>(List.of(test));
    while (!next.isEmpty()) {
      for (String type : types.getOrDefault(next.remove(), Set.of())) {
        if (type.equals("ProcessBuilder")) {
          return true;
        }
        if (seen.add(type)) {
          next.add(type);
        }
      }
    }
    return false;
  }

  @Test
  void plainBuildRunsOnlyChosenProcessTests() throws IOException {
    Map<String, String> sources = sources();
    Map<String, Set<String>> types = new HashMap<>();
    sources.forEach((name, source) -> types.put(name, types(source)));
    Set<String> plain =
        sources.entrySet().stream()
            .filter(each -> RUN.matcher(each.getKey()).find() && runsInPlainBuild(each.getValue()))
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    assertThat(plain).hasSizeGreaterThan(150);
    assertThat(plain.stream().filter(n -> n.endsWith("IT") || startsProcesses(n, types)))
        .containsExactlyInAnyOrderElementsOf(CHOSEN);
  }

  @Test
  void testsUseTheHeapOfTheBuild() throws IOException {
    Set<String> own = new TreeSet<>();
    Set<String> others = new TreeSet<>();
    sources()
        .forEach(
            (name, source) -> {
              if (source.contains("package io.troupe.tests.") && HEAP.matcher(source).find()) {
                (OWN_HEAP.matcher(source).find() ? own : others).add(name);
              }
            });
    assertThat(own).hasSizeGreaterThan(3);
    // The first two pass on what they get; the other calculates with sizes of the launcher.
    assertThat(others).containsExactlyInAnyOrder("NodeProcess", "HostileCluster", "TestHeap");
  }

  @Test
  void smallHeapRepeatsTestsWhoseOutcomeDependsOnIt() throws IOException {
    assertThat(
            sources().entrySet().stream()
                .filter(each -> each.getKey().endsWith("IT"))
                .filter(each -> !RUNS_ONCE.matcher(each.getValue()).find())
                .map(Map.Entry::getKey))
        .containsExactlyInAnyOrderElementsOf(REPEATED_WITH_SMALL_HEAP);
  }

  @Test
  void testsThatMountNeedRoot() throws IOException {
    Set<String> withRoot = new TreeSet<>();
    Set<String> without = new TreeSet<>();
    sources()
        .forEach(
            (name, source) -> {
              if (ROOT_COMMAND.matcher(source).find() && TEST.matcher(source).find()) {
                (source.contains("@NeedsRoot") ? withRoot : without).add(name);
              }
            });
    assertThat(without).isEmpty();
    assertThat(withRoot).hasSizeGreaterThan(5);
  }
}
