package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a process that may, or may not, lock its memory. */
@Timeout(60)
class MemoryLockTest {
  private static final String SETPRIV = "/usr/bin/setpriv";

  /** A kernel that says what it is told to. */
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

  private static NodeSettings settings(boolean lock) {
    return NodeSettings.of(TestConfig.of(Map.of("troupe.memory-mlock", lock)));
  }

  private void refused(String text) {
    assertThatThrownBy(() -> MemoryLock.hold(kernel))
        .isInstanceOf(StartException.class)
        .hasMessageStartingWith("configuration: troupe.memory-mlock = \"true\" is wrong: ")
        .hasMessageContaining(text)
        .extracting(failure -> ((StartException) failure).exitCode())
        .isEqualTo(ExitCode.CONFIGURATION);
  }

  @Test
  void whoMayIsLocked() {
    MemoryLock.hold(kernel);
    assertThat(kernel.calls).isEqualTo(1);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void whoDoesNotAskIsNot() {
    MemoryLock.hold(settings(false));
    assertThat(new LinuxMemory().locked()).isEqualTo("0 kB");
  }

  @Test
  void notElsewhere() {
    kernel.missing = "memory cannot be locked on Plan 9 mips";
    refused("memory cannot be locked on Plan 9 mips: expected Linux");
    assertThat(kernel.calls).isZero();
  }

  /** A limit would be met later, and end the member then. */
  @Test
  void notWithALimit() {
    kernel.unlimited = false;
    refused("LimitMEMLOCK=infinity");
    assertThat(kernel.calls).isZero();
  }

  @Test
  void notIfTheKernelRefuses() {
    kernel.error = 12;
    refused("mlockall fails with error 12: expected no limit of locked memory");
  }

  /** In a process of its own: this one shall not be locked. Prints what came of it. */
  public static final class Locked {
    private Locked() {}

    public static void main(String[] args) throws IOException {
      try {
        MemoryLock.hold(settings(true));
      } catch (StartException refused) {
        System.out.println("refused: " + refused.getMessage());
        return;
      }
      // Used after the call: locked too.
      byte[] more = new byte[32 << 20];
      for (int i = 0; i < more.length; i += 1024) {
        more[i] = 1;
      }
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmLck") || line.startsWith("VmRSS")) {
          System.out.println(line.replaceAll("\\s+", " "));
        }
      }
    }
  }

  @TempDir Path directory = Path.of("");

  private List<String> locked(String... before) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(before));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xms64m", "-Xmx64m", "-cp", System.getProperty("java.class.path")));
    command.add(Locked.class.getName());
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return Files.readAllLines(output, StandardCharsets.UTF_8);
  }

  @Test
  @EnabledOnOs(
      value = OS.LINUX,
      architectures = {"amd64", "aarch64"})
  void linuxLocksWhatItMay() throws Exception {
    List<String> output = locked();
    if (new LinuxMemory().isUnlimited()) {
      assertThat(output).anyMatch(line -> line.matches("VmLck: [1-9][0-9]{4,} kB"));
    } else {
      assertThat(output).anyMatch(line -> line.startsWith("refused: "));
    }
  }

  /** Root without that right is as anybody else. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void whoMayNotIsTold() throws Exception {
    boolean root = "root".equals(System.getProperty("user.name"));
    assumeTrue(root && Files.isExecutable(Path.of(SETPRIV)), "only root can give a right away");
    List<String> output =
        locked(
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
