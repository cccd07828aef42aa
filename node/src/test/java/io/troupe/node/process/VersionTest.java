package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VersionTest {
  @Test
  void buildWritesTheVersionOfItsApi() {
    assertThat(Version.etcd().toString()).matches("3\\.[0-9]+\\.[0-9]+");
    assertThat(Version.line()).endsWith("serves etcd API " + Version.etcd());
  }
}
