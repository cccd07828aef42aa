package io.troupe.tests.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests start the jar without bin/node, but with its options for the compilers. */
class CompilerOptionsTest {
  @Test
  void testsUseCompilerOptionsOfLauncher() throws Exception {
    assertThat(launcher("trained", 2)).isEqualTo(NodeProcess.TRAINED_COMPILERS);
    assertThat(launcher("untrained", 2)).isEqualTo(NodeProcess.LATE_COMPILERS);
  }

  @Test
  void manyProcessorsKeepTheThreadsThatTheJvmChooses() throws Exception {
    assertThat(launcher("trained", 15)).contains("-XX:CICompilerCount=12");
    assertThat(launcher("trained", 16)).isNotEmpty().noneMatch(option -> option.contains("Count"));
  }

  /** Returns what bin/launch/options.sh sets, for JDK 25 on that number of processors. */
  private static List<String> launcher(String variable, int processors)
      throws IOException, InterruptedException {
    Process shell =
        new ProcessBuilder(
                "bash",
                "-euc",
                "found=25; update=3; heap=1; cpus="
                    + processors
                    + "; . bin/launch/options.sh; printf '%s\\n' \"${"
                    + variable
                    + "[@]}\"")
            .directory(NodeProcess.root().toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    List<String> words = new String(shell.getInputStream().readAllBytes(), UTF_8).lines().toList();
    assertThat(shell.waitFor()).isZero();
    return words;
  }
}
