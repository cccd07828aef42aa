package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class VersionTest {
  /** bin/etcd prints the version without a JVM (F4). */
  @Test
  void scriptPrintsVersionOfTheProgram_F4() throws IOException {
    assertThat(Version.etcd().toString()).matches("3\\.[0-9]+\\.[0-9]+");
    assertThat(Files.readString(Path.of("..", "bin", "etcd")))
        .contains("echo \"etcd Version: " + Version.etcd() + "\"");
    assertThat(Version.line()).endsWith("serves etcd API " + Version.etcd());
  }
}
