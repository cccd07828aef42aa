package io.troupe.node.flags;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Command lines of bin/etcd, read on a host with a known address. */
final class CommandLines {
  private CommandLines() {}

  static EtcdCommandLine read(Map<String, String> environment, String... args) {
    return EtcdCommandLine.read(List.of(args), environment, () -> "192.0.2.7");
  }

  static Map<String, String> settings(String... args) {
    return read(Map.of(), args).properties();
  }

  static FlagException end(Map<String, String> environment, String... args) {
    return catchThrowableOfType(FlagException.class, () -> read(environment, args));
  }

  /** Asserts that the start fails with this first line. */
  static void ends(int status, String text, String... args) {
    FlagException end = end(Map.of(), args);
    assertThat(end.status()).isEqualTo(status);
    assertThat(end.text().lines().findFirst()).hasValue(text);
  }

  /** Writes a configuration file to that directory and removes the previous one. */
  static String file(Path directory, String... lines) throws IOException {
    return Files.write(directory.resolve("etcd.yaml"), List.of(lines)).toString();
  }
}
