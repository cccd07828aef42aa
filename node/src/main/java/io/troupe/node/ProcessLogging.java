package io.troupe.node;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import net.logstash.logback.composite.loggingevent.LoggingEventFormattedTimestampJsonProvider;
import net.logstash.logback.composite.loggingevent.LoggingEventJsonProviders;
import net.logstash.logback.composite.loggingevent.LoggingEventPatternJsonProvider;
import net.logstash.logback.composite.loggingevent.StackTraceJsonProvider;
import net.logstash.logback.encoder.LoggingEventCompositeJsonEncoder;
import org.slf4j.LoggerFactory;

/**
 * The log of a member's process: standard error, as etcd's. Made in code, because reading an XML
 * file takes a fifth of a second of each start. A file given with {@code
 * -Dlogback.configurationFile} replaces it, and a member inside somebody else's process leaves that
 * process's logging alone.
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_TOP_PRIORITY)
public final class ProcessLogging extends ContextAwareBase implements Configurator {
  private static final String OWN = "troupe";
  private static final String TEXT =
      "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level %-22logger{0} %msg%n%ex{full}";
  private static final String JSON =
      "{\"level\": \"%level\", \"caller\": \"%logger{0}\", \"msg\": \"%msg\"}";

  private static volatile boolean process;

  /** For Logback, which finds this class by its service file. */
  public ProcessLogging() {}

  /**
   * Says that this process is a member's, and sets its log up. Call before any other thread uses a
   * logger: SLF4J hands out stand-ins while it starts.
   */
  static void begin() {
    process = true;
    LoggerFactory.getILoggerFactory();
  }

  /** Applies the configured level and form; the form only if the log is ours. */
  static void configure(NodeSettings.Log settings) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    ch.qos.logback.classic.Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.toLevel(settings.level()));
    Appender<ILoggingEvent> own = root.getAppender(OWN);
    if (own != null && settings.format().equals("json")) {
      root.addAppender(console(context, "json", json(context)));
      root.detachAppender(own);
      own.stop();
    }
  }

  @Override
  public ExecutionStatus configure(LoggerContext context) {
    if (!process || System.getProperty("logback.configurationFile") != null) {
      return ExecutionStatus.INVOKE_NEXT_IF_ANY;
    }
    ch.qos.logback.classic.Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.INFO);
    root.addAppender(console(context, OWN, text(context)));
    // Libraries that are chatty at info.
    context.getLogger("org.apache.pekko").setLevel(Level.WARN);
    // A line for each connection that ends; io.troupe.actors.peers says what matters, once.
    context.getLogger("org.apache.pekko.remote").setLevel(Level.ERROR);
    context.getLogger("org.apache.pekko.stream.Materializer").setLevel(Level.ERROR);
    context.getLogger("net.openhft").setLevel(Level.WARN);
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  private static Appender<ILoggingEvent> console(
      LoggerContext context, String name, Encoder<ILoggingEvent> encoder) {
    ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
    appender.setContext(context);
    appender.setName(name);
    appender.setTarget("System.err");
    appender.setEncoder(encoder);
    appender.start();
    return appender;
  }

  private static Encoder<ILoggingEvent> text(LoggerContext context) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern(TEXT);
    encoder.start();
    return encoder;
  }

  private static Encoder<ILoggingEvent> json(LoggerContext context) {
    LoggingEventPatternJsonProvider fields = new LoggingEventPatternJsonProvider();
    fields.setPattern(JSON);
    LoggingEventFormattedTimestampJsonProvider timestamp =
        new LoggingEventFormattedTimestampJsonProvider();
    timestamp.setFieldName("ts");
    timestamp.setPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX");
    LoggingEventJsonProviders providers = new LoggingEventJsonProviders();
    providers.addPattern(fields);
    providers.addTimestamp(timestamp);
    providers.addStackTrace(new StackTraceJsonProvider());
    LoggingEventCompositeJsonEncoder encoder = new LoggingEventCompositeJsonEncoder();
    encoder.setContext(context);
    encoder.setProviders(providers);
    encoder.start();
    return encoder;
  }
}
