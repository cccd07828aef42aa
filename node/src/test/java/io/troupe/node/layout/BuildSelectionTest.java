package io.troupe.node.layout;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAnnotation;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.properties.HasAnnotations;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.troupe.testing.NeedsRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * A plain build stays short and needs no root: of the tests that start processes it runs only the
 * chosen ones. All others have the tag {@code full} (docs/campaigns/README.md).
 */
class BuildSelectionTest {
  /** Test classes with processes that a plain build runs, at least in part. */
  private static final Set<String> CHOSEN =
      Set.of(
          // Restart, exit codes, logs; a failover; a kill during a compaction.
          "NodeProcessIT",
          "MemberProcessIT",
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
          "DataDirTest",
          "KillTest",
          // Only the tests of these classes that start no process.
          "MemoryLockTest",
          "RocksStoreTest");

  /** The store of the conformance tests is a process only if a property names an etcd. */
  private static final String STORE = "io.troupe.node.conformance.ServedStore";

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern ROOT_COMMAND =
      Pattern.compile("\"(mount|unshare|losetup|fsfreeze)\"|new LoopDisk\\(");
  /** Names of the classes that Surefire and Failsafe run. */
  private static final Pattern NAME = Pattern.compile("(Test|IT)$");

  private static final Pattern TEST = Pattern.compile("@(Parameterized|Repeated)?Test\\b");

  private static JavaClasses tests() throws IOException {
    try (Stream<Path> modules = Files.list(ROOT)) {
      // Modules that are built after this one may have classes of an earlier build.
      return new ClassFileImporter()
          .importPaths(
              modules
                  .filter(module -> !module.endsWith("bench"))
                  .map(module -> module.resolve("target/test-classes"))
                  .filter(Files::isDirectory)
                  .toList());
    }
  }

  private static boolean isFull(HasAnnotations<?> element) {
    return element.isAnnotatedWith(NeedsRoot.class)
        || element.getAnnotations().stream().anyMatch(BuildSelectionTest::isFullTag);
  }

  private static boolean isFullTag(JavaAnnotation<?> annotation) {
    return annotation.getRawType().isEquivalentTo(Tag.class)
        && annotation.get("value").filter("full"::equals).isPresent();
  }

  private static boolean isTest(JavaMethod method) {
    return method.isAnnotatedWith(Test.class)
        || method.isAnnotatedWith(ParameterizedTest.class)
        || method.isAnnotatedWith(RepeatedTest.class);
  }

  private static boolean runsInPlainBuild(JavaClass type) {
    return NAME.matcher(type.getSimpleName()).find()
        && !isFull(type)
        && type.getMethods().stream().anyMatch(method -> isTest(method) && !isFull(method));
  }

  /** Whether a class, or test code that it uses, starts processes. */
  private static boolean startsProcesses(JavaClass test, JavaClasses known) {
    Set<String> seen = new HashSet<>(Set.of(test.getName()));
    Deque<JavaClass> next = new ArrayDeque<>(List.of(test));
    while (!next.isEmpty()) {
      for (var dependency : next.remove().getDirectDependenciesFromSelf()) {
        String target = dependency.getTargetClass().getBaseComponentType().getName();
        if (target.equals("java.lang.ProcessBuilder")) {
          return true;
        }
        if (!target.equals(STORE) && known.contain(target) && seen.add(target)) {
          next.add(known.get(target));
        }
      }
    }
    return false;
  }

  @Test
  void plainBuildRunsOnlyChosenProcessTests() throws IOException {
    JavaClasses tests = tests();
    Set<String> found = new TreeSet<>();
    int plain = 0;
    for (JavaClass type : tests) {
      if (runsInPlainBuild(type)) {
        plain++;
        if (type.getSimpleName().endsWith("IT") || startsProcesses(type, tests)) {
          found.add(type.getSimpleName());
        }
      }
    }
    assertThat(plain).isGreaterThan(60);
    assertThat(found).isSubsetOf(CHOSEN);
    assertThat(CHOSEN.stream().filter(name -> name.endsWith("IT"))).isSubsetOf(found);
  }

  @Test
  void testsThatMountNeedRoot() throws IOException {
    Set<String> without = new TreeSet<>();
    int withRoot = 0;
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path folder : modules.map(m -> m.resolve("src/test/java")).toList()) {
        if (!Files.isDirectory(folder)) {
          continue;
        }
        try (Stream<Path> files = Files.walk(folder)) {
          for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
            String text = Files.readString(file);
            if (ROOT_COMMAND.matcher(text).find()
                && TEST.matcher(text).find()
                && !file.endsWith("BuildSelectionTest.java")) {
              withRoot++;
              if (!text.contains("@NeedsRoot")) {
                without.add(file.getFileName().toString());
              }
            }
          }
        }
      }
    }
    assertThat(withRoot).isGreaterThan(5);
    assertThat(without).isEmpty();
  }
}
