package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.spi.FilterReply;
import io.troupe.persistence.wal.WalException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Exit statuses. Tests of whole processes check that the process exits with them. */
class ProcessExitTest {
  @ParameterizedTest
  @EnumSource
  void onlyWrongSettingHasOtherExitStatusOfEtcd_F3(ExitCode code) {
    assertThat(ProcessExit.status(code, false)).isEqualTo(code.code());
    assertThat(ProcessExit.status(code, true))
        .isEqualTo(code == ExitCode.CONFIGURATION ? 1 : code.code());
  }

  @Test
  void wrappedOutOfMemoryHasItsOwnStatus() {
    OutOfMemoryError memory = new OutOfMemoryError("Cannot reserve direct buffer memory");
    assertThat(ProcessExit.code(memory)).isEqualTo(ExitCode.OUT_OF_MEMORY);
    assertThat(
            ProcessExit.code(new WalException(WalException.Kind.IO, "x", new IOException(memory))))
        .isEqualTo(ExitCode.OUT_OF_MEMORY);
    assertThat(ProcessExit.code(new IOException("x"))).isEqualTo(ExitCode.UNEXPECTED);
  }

  @Test
  void loggedOutOfMemoryEndsProcessOnce() {
    List<Throwable> ended = new ArrayList<>();
    OutOfMemoryFilter filter = new OutOfMemoryFilter(ended::add);
    Logger logger = new LoggerContext().getLogger("any");
    IllegalStateException wrapped =
        new IllegalStateException(new OutOfMemoryError("unable to create native thread"));
    for (Throwable thrown : List.of(new IOException("disk"), wrapped, wrapped)) {
      assertThat(filter.decide(null, logger, Level.ERROR, "failed", null, thrown))
          .isEqualTo(FilterReply.NEUTRAL);
    }
    assertThat(ended).containsExactly(wrapped);
    OutOfMemoryFilter amongParameters = new OutOfMemoryFilter(ended::add);
    amongParameters.decide(
        null, logger, Level.ERROR, "failed {}", new Object[] {"x", wrapped}, null);
    assertThat(ended).containsExactly(wrapped, wrapped);
  }

  @Test
  void largestClassesAreNamed() {
    byte[] large = new byte[32 << 20];
    assertThat(HeapMonitor.largest(3)).hasSize(3).anyMatch(line -> line.startsWith("[B "));
    assertThat(large).hasSize(32 << 20);
  }

  /** The unit lists the statuses that a restart does not repair; operations.md lists the same. */
  @Test
  void systemdUnitAndOperationsPageListExitCodes() throws IOException {
    String unit = Files.readString(file("conf/systemd/troupe.service"));
    String prevented =
        unit.lines()
            .filter(line -> line.startsWith("RestartPreventExitStatus="))
            .findFirst()
            .orElseThrow();
    Set<ExitCode> useless =
        EnumSet.of(
            ExitCode.CONFIGURATION,
            ExitCode.DATA_CORRUPT,
            ExitCode.ADDRESS,
            ExitCode.DATA_UNUSABLE,
            ExitCode.VERSION);
    assertThat(prevented.substring(prevented.indexOf('=') + 1).split(" ", -1))
        .containsExactlyInAnyOrder(
            useless.stream().map(code -> String.valueOf(code.code())).toArray(String[]::new));
    List<String> operations = Files.readAllLines(file("docs/operations.md"));
    for (ExitCode code : ExitCode.values()) {
      assertThat(operations)
          .anyMatch(line -> line.matches("\\| (\\d+, )*" + code.code() + "\\b.*"));
    }
    String worth =
        operations.stream().filter(line -> line.endsWith(" are not.")).findFirst().orElseThrow();
    for (ExitCode code : ExitCode.values()) {
      String part =
          useless.contains(code) ? worth.replaceAll("^.*;", "") : worth.replaceAll(";.*", "");
      assertThat(part).containsPattern("\\b" + code.code() + "\\b");
    }
  }

  private static Path file(String name) {
    Path here = Path.of("").toAbsolutePath();
    return here.resolve(here.endsWith("node") ? "../" + name : name).normalize();
  }
}
