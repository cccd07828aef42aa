package io.troupe.node.logging;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.Encoder;
import com.fasterxml.jackson.core.JsonGenerator;
import io.troupe.model.GoDuration;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.logstash.logback.composite.AbstractJsonProvider;
import net.logstash.logback.composite.loggingevent.LoggingEventJsonProviders;
import net.logstash.logback.encoder.LoggingEventCompositeJsonEncoder;
import org.slf4j.event.KeyValuePair;

/**
 * Writes log lines in etcd's JSON form (B6): {@code level}, {@code ts}, {@code caller}, {@code
 * msg}, then a field for each {@code key={}} at the end of the message and for each key of the
 * event. So {@code "saved snapshot snapshot-index={}"} has the message {@code saved snapshot} and a
 * number.
 */
final class EtcdLogFields extends AbstractJsonProvider<ILoggingEvent> {
  /** Keys at the end of a message, each with one placeholder or a word as its value. */
  private static final Pattern TAIL =
      Pattern.compile("(?:\\s+[A-Za-z][\\w.-]*=(?:\\{}|[^\\s{}=,]+))+\\s*$");

  private static final Pattern FIELD = Pattern.compile("([A-Za-z][\\w.-]*)=(\\{}|[^\\s{}=,]+)");
  private static final String PLACEHOLDER = "{}";

  /** The form of Go's 2006-01-02T15:04:05.000000Z0700. */
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSXX", Locale.ROOT);

  private final ZoneId zone;

  EtcdLogFields(ZoneId zone) {
    this.zone = zone;
  }

  /** Returns an encoder that writes one such object per line, with times in the default zone. */
  static Encoder<ILoggingEvent> encoder(LoggerContext context) {
    LoggingEventJsonProviders providers = new LoggingEventJsonProviders();
    providers.addProvider(new EtcdLogFields(ZoneId.systemDefault()));
    LoggingEventCompositeJsonEncoder encoder = new LoggingEventCompositeJsonEncoder();
    encoder.setContext(context);
    encoder.setProviders(providers);
    encoder.start();
    return encoder;
  }

  @Override
  public void writeTo(JsonGenerator json, ILoggingEvent event) throws IOException {
    json.writeStringField("level", event.getLevel().toString().toLowerCase(Locale.ROOT));
    json.writeStringField("ts", TIME.format(event.getInstant().atZone(zone)));
    json.writeStringField("caller", caller(event));
    String format = event.getMessage() == null ? "" : event.getMessage();
    Matcher tail = TAIL.matcher(format);
    if (tail.find()) {
      fields(json, event, format.substring(0, tail.start()), tail.group());
    } else {
      json.writeStringField("msg", event.getFormattedMessage());
    }
    pairs(json, event);
    if (event.getThrowableProxy() != null) {
      json.writeStringField(
          "error",
          event.getThrowableProxy().getClassName() + ": " + event.getThrowableProxy().getMessage());
      json.writeStringField("stacktrace", ThrowableProxyUtil.asString(event.getThrowableProxy()));
    }
  }

  private static void fields(JsonGenerator json, ILoggingEvent event, String head, String tail)
      throws IOException {
    Object[] all = event.getArgumentArray();
    List<Object> arguments = new ArrayList<>(all == null ? List.of() : Arrays.asList(all));
    StringBuilder message = new StringBuilder();
    int from = 0;
    int at;
    while ((at = head.indexOf(PLACEHOLDER, from)) >= 0 && !arguments.isEmpty()) {
      message.append(head, from, at).append(arguments.remove(0));
      from = at + PLACEHOLDER.length();
    }
    json.writeStringField("msg", message.append(head.substring(from)).toString());
    Matcher field = FIELD.matcher(tail);
    while (field.find()) {
      String text = field.group(2);
      if (!text.equals(PLACEHOLDER)) {
        json.writeStringField(field.group(1), text);
      } else if (!arguments.isEmpty()) {
        value(json, field.group(1), arguments.remove(0));
      }
    }
  }

  private void pairs(JsonGenerator json, ILoggingEvent event) throws IOException {
    if (event.getKeyValuePairs() == null) {
      return;
    }
    for (KeyValuePair pair : event.getKeyValuePairs()) {
      Object shown =
          pair.value instanceof Instant instant ? TIME.format(instant.atZone(zone)) : pair.value;
      value(json, pair.key, shown);
    }
  }

  private static void value(JsonGenerator json, String key, Object value) throws IOException {
    if (value instanceof Long || value instanceof Integer) {
      json.writeNumberField(key, ((Number) value).longValue());
    } else if (value instanceof Boolean flag) {
      json.writeBooleanField(key, flag);
    } else if (value instanceof Duration duration) {
      json.writeStringField(key, GoDuration.text(duration));
    } else if (value instanceof Collection<?> many) {
      json.writeArrayFieldStart(key);
      for (Object one : many) {
        json.writeString(String.valueOf(one));
      }
      json.writeEndArray();
    } else {
      json.writeStringField(key, String.valueOf(value));
      MemberNames.Member member = MemberNames.of(value);
      if (member != null) {
        json.writeStringField(MemberNames.prefix(key) + "-name", member.name());
        json.writeStringField(MemberNames.prefix(key) + "-url", member.url());
      }
    }
  }

  /**
   * Returns package, file and line for Troupe's own lines, the last part of the logger's name for a
   * library's.
   */
  private static String caller(ILoggingEvent event) {
    String logger = event.getLoggerName();
    if (logger.startsWith("io.troupe.") && event.getCallerData().length > 0) {
      StackTraceElement where = event.getCallerData()[0];
      String[] names = where.getClassName().split("\\.", -1);
      String actor = names.length < 2 ? "" : names[names.length - 2] + "/";
      return actor + where.getFileName() + ":" + where.getLineNumber();
    }
    return logger.substring(logger.lastIndexOf('.') + 1);
  }
}
