package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@link NodeProcess} itself, which tests of several members use. */
@HeapIndependent
class NodeProcessIT {
  @TempDir Path directory = Path.of("");

  @Test
  void membersRestartOnTheirOwnDataAndPort() {
    NodeProcess.Builder member =
        NodeProcess.member(TestJdks.running(), directory.resolve("a")).setting("name", "a");
    NodeProcess.Builder neighbour =
        NodeProcess.member(TestJdks.running(), directory.resolve("b")).setting("name", "b");
    try (NodeProcess a = member.start();
        NodeProcess b = neighbour.start()) {
      assertThat(a.awaitReady().port()).isNotEqualTo(b.awaitReady().port());
      assertThatThrownBy(a::restart).hasMessageContaining("still running");
      a.kill();
      try (NodeProcess again = a.restart()) {
        assertThat(again.awaitLine("found data of member")).contains("name=a");
        assertThat(again.awaitReady().endpoint()).isEqualTo(a.endpoint());
        assertThat(a.err()).contains("bootstrapped a new member");
      }
      assertThat(b.isAlive()).isTrue();
    }
  }

  @Test
  void pausedProcessStopsAndResumes() {
    String count = "i=0; while true; do i=$((i+1)); echo line=$i >&2; done";
    try (NodeProcess counter = NodeProcess.program(directory, "bash", "-c", count).start()) {
      counter.awaitLine("line=100");
      counter.pause();
      String said = counter.err();
      assertThat(counter.isAlive()).isTrue();
      assertThat(counter.err()).isEqualTo(said);
      int lines = (int) said.lines().count();
      counter.resume();
      assertThat(counter.awaitLine("line=" + (lines + 100))).startsWith("line=");
      counter.pause();
      counter.kill();
      assertThat(counter.isAlive()).isFalse();
    }
  }

  @Test
  void missingLineFailsWithLog() {
    try (NodeProcess brief =
        NodeProcess.program(directory, "bash", "-c", "echo this came >&2").start()) {
      assertThatThrownBy(() -> brief.awaitLine("that did not"))
          .hasMessageContaining("that did not")
          .hasMessageContaining("this came")
          .hasMessageContaining("exit=0");
    }
  }
}
