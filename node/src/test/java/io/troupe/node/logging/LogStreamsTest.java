package io.troupe.node.logging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.Appender;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.StartException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Log files and their rotation. */
class LogStreamsTest {
  @TempDir Path directory = Path.of("");

  private final LoggerContext context = new LoggerContext();

  @BeforeEach
  void giveTheContextWhatAProcessGivesIt() {
    context.setMDCAdapter(new LogbackMDCAdapter());
  }

  private Appender<ILoggingEvent> open(Path file, Optional<NodeSettings.LogRotation> rotation) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern("%msg%n");
    encoder.start();
    return new LogStreams(context)
        .open(
            file.toString(),
            new NodeSettings.Log("info", "text", List.of(file.toString()), rotation),
            encoder);
  }

  private void say(Appender<ILoggingEvent> appender, String text) {
    appender.doAppend(
        new LoggingEvent("x", context.getLogger("test"), Level.INFO, text, null, null));
  }

  @Test
  void existingLogFileIsAppended() throws IOException {
    Path file = directory.resolve("sub/member.log");
    for (String text : List.of("one", "two")) {
      Appender<ILoggingEvent> appender = open(file, Optional.empty());
      say(appender, text);
      appender.stop();
    }
    assertThat(file).hasContent("one\ntwo\n");
  }

  @Test
  void unwritableLogFileStopsStart() throws IOException {
    Path taken = Files.createFile(directory.resolve("taken"));
    assertThatThrownBy(() -> open(taken.resolve("member.log"), Optional.empty()))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("troupe.log.outputs")
        .hasMessageContaining("member.log");
  }

  @Test
  void fullLogFileIsRotated() throws IOException {
    Path file = directory.resolve("member.log");
    Appender<ILoggingEvent> appender =
        open(file, Optional.of(new NodeSettings.LogRotation(1, 0, 0, false)));
    String line = "x".repeat(64 << 10);
    for (int i = 0; i < 40; i++) {
      say(appender, line);
    }
    appender.stop();
    try (var files = Files.list(directory)) {
      assertThat(files.map(path -> path.getFileName().toString()))
          .contains("member.log")
          .anyMatch(name -> name.matches("member-\\d{4}-\\d{2}-\\d{2}\\.0\\.log"));
    }
  }
}
