package io.troupe.node.logging;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.StartException;
import java.io.FileDescriptor;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Configures the log of a member's process: standard error, as in etcd. Code configures it, because
 * reading an XML file takes a fifth of a second of each start. A file given with {@code
 * -Dlogback.configurationFile} replaces it, and a member inside another program's process leaves
 * that process's logging alone. Logback loads this class there too, so it must load without the
 * library for JSON lines.
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_TOP_PRIORITY)
public final class ProcessLogging extends ContextAwareBase implements Configurator {
  private static final String OWN = "troupe";
  private static final List<String> AS_IT_BEGINS = List.of("stderr");
  private static final String TEXT =
      "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level %-22logger{0} %text%fields%n%ex{full}";

  private static volatile boolean process;

  /** Called by Logback, which finds this class by its service file. */
  public ProcessLogging() {}

  /**
   * Marks this process as a member and sets up its log. Call before any other thread uses a logger:
   * SLF4J returns substitute loggers while it starts.
   */
  public static void begin() {
    process = true;
    LoggerFactory.getILoggerFactory();
  }

  /** Writes one JSON object per line to standard error, before the settings are known (B6). */
  public static void json() {
    configure(new NodeSettings.Log("info", "json", List.of("stderr"), Optional.empty()));
  }

  /**
   * Applies the settings. Applies format and outputs only if this class configured the log. In JSON
   * format, text that libraries print becomes log lines.
   *
   * @throws StartException if an output cannot be written
   */
  public static void configure(NodeSettings.Log settings) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    ch.qos.logback.classic.Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.toLevel(settings.level()));
    Appender<ILoggingEvent> own = root.getAppender(OWN);
    boolean asItIs = settings.format().equals("text") && settings.outputs().equals(AS_IT_BEGINS);
    if (own == null || asItIs) {
      return;
    }
    boolean json = settings.format().equals("json");
    LogStreams streams = new LogStreams(context);
    for (String output : new LinkedHashSet<>(settings.outputs())) {
      root.addAppender(
          streams.open(output, settings, json ? EtcdLogFields.encoder(context) : text(context)));
    }
    root.detachAppender(own);
    if (json) {
      StdStreamRedirect.capture();
    }
  }

  @Override
  public ExecutionStatus configure(LoggerContext context) {
    if (!process || System.getProperty("logback.configurationFile") != null) {
      return ExecutionStatus.INVOKE_NEXT_IF_ANY;
    }
    ch.qos.logback.classic.Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.INFO);
    root.addAppender(new LogStreams(context).stream(OWN, FileDescriptor.err, text(context)));
    // Libraries that log too much at info.
    context.getLogger("org.apache.pekko").setLevel(Level.WARN);
    context.getLogger("org.apache.pekko.stream.Materializer").setLevel(Level.ERROR);
    context.getLogger("net.openhft").setLevel(Level.WARN);
    context.addTurboFilter(new MalformedRequestLogFilter());
    context.addTurboFilter(new BindFailureLogFilter());
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  private static Encoder<ILoggingEvent> text(LoggerContext context) {
    PatternLayout layout = new PatternLayout();
    layout.setContext(context);
    layout.getInstanceConverterMap().put("text", TextMessage::new);
    layout.getInstanceConverterMap().put("fields", TextFields::new);
    layout.setPattern(TEXT);
    layout.start();
    LayoutWrappingEncoder<ILoggingEvent> encoder = new LayoutWrappingEncoder<>();
    encoder.setContext(context);
    encoder.setLayout(layout);
    encoder.start();
    return encoder;
  }
}
