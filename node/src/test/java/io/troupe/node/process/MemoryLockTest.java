package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import io.troupe.node.config.NodeSettings;
import io.troupe.testing.NeedsRoot;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Memory locking with and without the permission to lock. */
@Timeout(120)
class MemoryLockTest {
  private static final String SETPRIV = "/usr/bin/setpriv";

  /** A kernel with configured results. */
  private static final class Fake implements MemoryLock.Kernel {
    String missing = "";
    boolean unlimited = true;
    int error;
    int calls;

    @Override
    public String missing() {
      return missing;
    }

    @Override
    public boolean isUnlimited() {
      return unlimited;
    }

    @Override
    public int lockAll() {
      calls++;
      return error;
    }

    @Override
    public String locked() {
      return "7 kB";
    }
  }

  private final Fake kernel = new Fake();

  private void refused(String text) {
    assertThatThrownBy(() -> MemoryLock.hold(kernel))
        .isInstanceOf(StartException.class)
        .hasMessageStartingWith("configuration: troupe.memory-mlock = \"true\" is wrong: ")
        .hasMessageContaining(text)
        .extracting(failure -> ((StartException) failure).exitCode())
        .isEqualTo(ExitCode.CONFIGURATION);
  }

  @Test
  void locksMemoryWhenPermitted() {
    MemoryLock.hold(kernel);
    assertThat(kernel.calls).isEqualTo(1);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void memoryIsNotLockedByDefault() {
    assertThat(NodeSettings.of(TestConfig.of(Map.of())).memoryMlock()).isFalse();
    assertThat(new LinuxMemory().locked()).isEqualTo("0 kB");
  }

  @Test
  void otherPlatformsDoNotLockMemory() {
    kernel.missing = "memory cannot be locked on Plan 9 mips";
    refused("memory cannot be locked on Plan 9 mips: expected Linux");
    assertThat(kernel.calls).isZero();
  }

  /** The member would reach a limit later and stop. */
  @Test
  void memlockLimitPreventsLocking() {
    kernel.unlimited = false;
    refused("LimitMEMLOCK=infinity");
    assertThat(kernel.calls).isZero();
  }

  @Test
  void kernelRefusalPreventsLocking() {
    kernel.error = 12;
    refused("mlockall fails with error 12: expected no limit of locked memory");
  }

  /** A member in a separate process, so that this process is not locked. Prints the result. */
  public static final class Locked {
    private Locked() {}

    /**
     * Runs.
     *
     * @param args data directory, and whether to lock
     */
    public static void main(String[] args) throws IOException, InterruptedException {
      Map<String, Object> settings = TestConfig.alone(Path.of(args[0]));
      settings.put("troupe.memory-mlock", args[1]);
      try (RunningNode node =
          RunningNode.start(
              TestConfig.of(settings),
              failure -> {
                throw new AssertionError(failure);
              })) {
        node.awaitReady();
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
          if (line.startsWith("Vm")) {
            System.out.println(line.replaceAll("\\s+", " "));
          }
        }
      } catch (StartException refused) {
        System.out.println("refused: " + refused.getMessage());
      }
    }
  }

  @TempDir Path directory = Path.of("");

  private List<String> member(boolean locks, String... before)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(before));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // The packages that Chronicle Queue accesses by reflection.
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith("--add-"))
        .forEach(command::add);
    command.addAll(List.of("-Xms64m", "-Xmx256m", "-cp", System.getProperty("java.class.path")));
    command.add(Locked.class.getName());
    command.add(directory.resolve("data-" + locks).toString());
    command.add(Boolean.toString(locks));
    Path output = directory.resolve("output-" + locks);
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
    List<String> lines = Files.readAllLines(output, StandardCharsets.UTF_8);
    lines.forEach(System.out::println);
    return lines;
  }

  private static long kilobytes(List<String> output, String name) {
    return output.stream()
        .filter(line -> line.startsWith(name + ": "))
        .mapToLong(line -> Long.parseLong(line.split(" ", -1)[1]))
        .findFirst()
        .orElseThrow(() -> new AssertionError(output));
  }

  @Tag("full")
  @Test
  @EnabledOnOs(
      value = OS.LINUX,
      architectures = {"amd64", "aarch64"})
  void lockedMemberUsesNoMoreMemory() throws Exception {
    List<String> locked = member(true);
    if (!new LinuxMemory().isUnlimited()) {
      assertThat(locked).anyMatch(line -> line.startsWith("refused: "));
      return;
    }
    // All mapped memory counts as locked, except what the kernel never swaps.
    assertThat(kilobytes(locked, "VmLck")).isGreaterThan(kilobytes(locked, "VmSize") / 2);
    List<String> free = member(false);
    assertThat(kilobytes(free, "VmLck")).isZero();
    assertThat(kilobytes(locked, "VmRSS")).isLessThan(kilobytes(free, "VmRSS") + 150_000);
  }

  /** Root without that capability has the permissions of any other user. */
  @NeedsRoot
  @Test
  @EnabledOnOs(OS.LINUX)
  void missingPermissionIsLogged() throws Exception {
    boolean root = "root".equals(System.getProperty("user.name"));
    assumeTrue(root && Files.isExecutable(Path.of(SETPRIV)), "only root can give a right away");
    List<String> output =
        member(
            true,
            "/usr/bin/prlimit",
            "--memlock=65536:65536",
            SETPRIV,
            "--inh-caps=-ipc_lock",
            "--bounding-set=-ipc_lock");
    assertThat(output)
        .anyMatch(
            line ->
                line.startsWith(
                    "refused: configuration: troupe.memory-mlock = \"true\" is wrong: this process"
                        + " may not lock all of its memory: expected no limit of locked memory"));
  }
}
