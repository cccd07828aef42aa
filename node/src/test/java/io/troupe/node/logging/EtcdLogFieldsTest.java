package io.troupe.node.logging;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

/** B6: log lines have the fields that readers of etcd logs expect. */
class EtcdLogFieldsTest {
  private static final Instant AT = Instant.parse("2026-03-04T05:06:07.000089Z");

  private final ObjectMapper mapper = new ObjectMapper();
  private final LoggerContext context = new LoggerContext();

  @BeforeEach
  void giveTheContextWhatAProcessGivesIt() {
    context.setMDCAdapter(new LogbackMDCAdapter());
  }

  private LoggingEvent event(
      String logger,
      Level level,
      String message,
      @Nullable Throwable failure,
      Object... arguments) {
    LoggingEvent event =
        new LoggingEvent(
            EtcdLogFieldsTest.class.getName(),
            context.getLogger(logger),
            level,
            message,
            failure,
            arguments);
    event.setInstant(AT);
    return event;
  }

  private JsonNode line(ZoneId zone, ILoggingEvent event) throws IOException {
    StringWriter out = new StringWriter();
    try (JsonGenerator json = mapper.getFactory().createGenerator(out)) {
      json.writeStartObject();
      new EtcdLogFields(zone).writeTo(json, event);
      json.writeEndObject();
    }
    return mapper.readTree(out.toString());
  }

  private JsonNode line(String message, Object... arguments) throws IOException {
    return line(ZoneOffset.UTC, event("lib.Thing", Level.INFO, message, null, arguments));
  }

  @Test
  void trailingKeysBecomeTypedFields_B6() throws IOException {
    assertThat(
            line(
                "saved snapshot snapshot-index={} took={} to={} done={} urls={} kind=full",
                12L,
                Duration.ofMillis(1500),
                "a b",
                true,
                List.of("x", "y")))
        .isEqualTo(
            mapper.readTree(
                """
                {"level":"info","ts":"2026-03-04T05:06:07.000089Z","caller":"Thing","msg":"saved snapshot",
                 "snapshot-index":12,"took":"1.5s","to":"a b","done":true,"urls":["x","y"],"kind":"full"}
                """));
  }

  @Test
  void placeholdersBeforeKeysStayInMessage() throws IOException {
    JsonNode line = line("the {} did not stop within {} ms actor={}", "actors", 800, "wal");
    assertThat(line.get("msg").asText()).isEqualTo("the actors did not stop within 800 ms");
    assertThat(line.get("actor").asText()).isEqualTo("wal");
    assertThat(line("found data-dir={}", Path.of("/a/b")).get("data-dir").asText())
        .isEqualTo("/a/b");
  }

  @Test
  void messageWithoutTrailingKeysIsUnchanged() throws IOException {
    assertThat(line("could not be saved index={}: {}", 3, "why").get("msg").asText())
        .isEqualTo("could not be saved index=3: why");
    assertThat(line("\"quoted\" = {}\n", "a=b").get("msg").asText())
        .isEqualTo("\"quoted\" = a=b\n");
  }

  @Test
  void timestampHasMicrosecondsAndZone_B6() throws IOException {
    ZoneId india = ZoneOffset.ofHoursMinutes(5, 30);
    JsonNode line = line(india, event("lib.Thing", Level.WARN, "x", null));
    assertThat(line.get("ts").asText()).isEqualTo("2026-03-04T10:36:07.000089+0530");
    assertThat(line.get("level").asText()).isEqualTo("warn");
  }

  @Test
  void keyValuePairsAndExceptionAreFields() throws IOException {
    LoggingEvent event =
        event("lib.Thing", Level.ERROR, "broken", new IllegalStateException("why"));
    event.setKeyValuePairs(
        List.of(new KeyValuePair("start time", AT), new KeyValuePair("time spent", Duration.ZERO)));
    JsonNode line = line(ZoneOffset.UTC, event);
    assertThat(line.get("start time").asText()).isEqualTo("2026-03-04T05:06:07.000089Z");
    assertThat(line.get("time spent").asText()).isEqualTo("0s");
    assertThat(line.get("error").asText()).isEqualTo("java.lang.IllegalStateException: why");
    assertThat(line.get("stacktrace").asText()).contains("EtcdLogFieldsTest.java");
  }

  @Test
  void ownLinesNameFileAndLine_B6() throws IOException {
    ListAppender<ILoggingEvent> lines =
        new ListAppender<>() {
          @Override
          protected void append(ILoggingEvent event) {
            // The caller of the logger can be found only while the line is logged.
            assertThat(event.getCallerData()).isNotEmpty();
            super.append(event);
          }
        };
    lines.start();
    context.getLogger("io.troupe").addAppender(lines);
    context.getLogger("io.troupe.node.Some").info("x");
    JsonNode line = line(ZoneOffset.UTC, lines.list.get(0));
    assertThat(line.get("caller").asText()).matches("logging/EtcdLogFieldsTest\\.java:[0-9]+");
  }
}
