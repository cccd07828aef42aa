package io.troupe.node.logging;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.FileAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeAndTimeBasedRollingPolicy;
import ch.qos.logback.core.util.FileSize;
import io.troupe.node.config.LogReader;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.file.Path;

/** Creates the outputs of the log: standard streams and files (log-outputs). */
final class LogStreams {
  private final LoggerContext context;

  LogStreams(LoggerContext context) {
    this.context = context;
  }

  /**
   * Opens an output.
   *
   * @throws StartException if a file cannot be written
   */
  Appender<ILoggingEvent> open(
      String output, NodeSettings.Log settings, Encoder<ILoggingEvent> encoder) {
    if (LogReader.isStream(output)) {
      boolean out = output.equals(LogReader.STANDARD_OUTPUT);
      return stream(output, out ? FileDescriptor.out : FileDescriptor.err, encoder);
    }
    FileAppender<ILoggingEvent> file =
        settings.rotation().map(rotation -> rolling(output, rotation)).orElseGet(FileAppender::new);
    file.setFile(output);
    file.setAppend(true);
    begin(file, output, encoder);
    if (!file.isStarted()) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.log.outputs = \""
              + output
              + "\" is wrong: expected a file to write");
    }
    return file;
  }

  /** Uses the descriptor, not System.err, which may be redirected to the log. */
  Appender<ILoggingEvent> stream(
      String name, FileDescriptor descriptor, Encoder<ILoggingEvent> encoder) {
    OutputStreamAppender<ILoggingEvent> appender = new OutputStreamAppender<>();
    begin(appender, name, encoder, new FileOutputStream(descriptor));
    return appender;
  }

  private void begin(
      OutputStreamAppender<ILoggingEvent> appender,
      String name,
      Encoder<ILoggingEvent> encoder,
      FileOutputStream stream) {
    appender.setContext(context);
    appender.setName(name);
    appender.setEncoder(encoder);
    appender.setOutputStream(stream);
    appender.start();
  }

  private void begin(
      FileAppender<ILoggingEvent> appender, String name, Encoder<ILoggingEvent> encoder) {
    appender.setContext(context);
    appender.setName(name);
    appender.setEncoder(encoder);
    appender.start();
  }

  /** Older files are in the same directory, with day and number in their names. */
  private FileAppender<ILoggingEvent> rolling(String path, NodeSettings.LogRotation rotation) {
    Path file = Path.of(path);
    String name = String.valueOf(file.getFileName());
    int dot = name.lastIndexOf('.');
    String older =
        (dot <= 0 ? name : name.substring(0, dot))
            + "-%d{yyyy-MM-dd}.%i"
            + (dot <= 0 ? "" : name.substring(dot))
            + (rotation.compress() ? ".gz" : "");
    long bytes = rotation.maxMegabytes() * 1024L * 1024;
    RollingFileAppender<ILoggingEvent> appender = new RollingFileAppender<>();
    appender.setContext(context);
    appender.setFile(path);
    SizeAndTimeBasedRollingPolicy<ILoggingEvent> policy = new SizeAndTimeBasedRollingPolicy<>();
    policy.setContext(context);
    policy.setParent(appender);
    policy.setFileNamePattern(file.resolveSibling(older).toString());
    policy.setMaxFileSize(new FileSize(bytes));
    policy.setMaxHistory(rotation.maxDays());
    if (rotation.maxFiles() > 0) {
      policy.setTotalSizeCap(new FileSize(rotation.maxFiles() * bytes));
    }
    policy.start();
    appender.setRollingPolicy(policy);
    return appender;
  }
}
