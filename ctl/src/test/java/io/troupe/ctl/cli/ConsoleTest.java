package io.troupe.ctl.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConsoleTest {
  private final Console console =
      new Console(
          InputStream.nullInputStream(),
          OutputStream.nullOutputStream(),
          OutputStream.nullOutputStream(),
          Map.of(),
          false,
          false);

  @TempDir Path directory = Path.of("");

  private void fails(String program, String message) {
    assertThatThrownBy(() -> console.run(List.of(program), Map.of()))
        .isInstanceOf(CtlException.class)
        .hasMessage(message);
  }

  /** The texts of Go's os/exec, on every JDK. */
  @Test
  void programThatCannotStartIsReportedAsEtcdctlDoes_CT5() throws Exception {
    Path file = Files.writeString(directory.resolve("text"), "no program");

    fails("/nonexistent/command", "fork/exec /nonexistent/command: no such file or directory");
    fails("nosuchcommand", "exec: \"nosuchcommand\": executable file not found in $PATH");
    fails(file.toString(), "fork/exec " + file + ": permission denied");
    fails(directory + "/", "fork/exec " + directory + "/: permission denied");
  }

  @Test
  void exitStatusIsThatOfTheProgram() {
    assertThat(console.run(List.of("sh", "-c", "exit $STATUS"), Map.of("STATUS", "7")))
        .isEqualTo(7);
  }
}
