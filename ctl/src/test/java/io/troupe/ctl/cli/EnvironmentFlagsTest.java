package io.troupe.ctl.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class EnvironmentFlagsTest {
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private List<String> read(Map<String, String> environment, Set<String> given) {
    CommandLine root =
        new CommandLine(CommandSpec.forAnnotatedObject(new GlobalOptions()).name("ctl"));
    Console console =
        new Console(
            InputStream.nullInputStream(),
            new ByteArrayOutputStream(),
            err,
            environment,
            false,
            false);
    return EnvironmentFlags.read(root, given, console);
  }

  @Test
  void variablesSetFlags_CT2() {
    assertThat(read(Map.of("ETCDCTL_DIAL_TIMEOUT", "3s", "ETCDCTL_HEX", "1"), Set.of()))
        .containsExactlyInAnyOrder("--dial-timeout=3s", "--hex=true");
    assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
  }

  @Test
  void variableAndFlagTogetherAreRefused_CT2() {
    assertThatThrownBy(() -> read(Map.of("ETCDCTL_USER", "a"), Set.of("--user")))
        .isInstanceOf(CtlException.class)
        .hasMessageStartingWith(
            "conflicting environment variable ETCDCTL_USER is shadowed by corresponding"
                + " command-line flag");
  }

  @Test
  void unknownVariablesOnlyWarn_CT2() {
    assertThat(
            read(
                Map.of("ETCDCTL_NOPE", "1", "ETCDCTL_WATCH_KEY", "k", "ETCDCTL_API", "3"),
                Set.of()))
        .isEmpty();
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualTo("Warning: unrecognized environment variable ETCDCTL_NOPE\n");
  }

  @Test
  void invalidValueNamesTheVariable() {
    assertThatThrownBy(() -> read(Map.of("ETCDCTL_DIAL_TIMEOUT", "3"), Set.of()))
        .hasMessageStartingWith("ETCDCTL_DIAL_TIMEOUT: ");
  }
}
