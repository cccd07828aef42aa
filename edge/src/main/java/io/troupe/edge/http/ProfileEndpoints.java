package io.troupe.edge.http;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.management.JMException;
import javax.management.ObjectName;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The JVM's equivalents of Go's profiles, on Go's paths: thread dumps, a class histogram, and
 * flight recordings. Runs one recording at a time.
 */
public final class ProfileEndpoints {
  static final String PREFIX = "/debug/pprof/";

  private static final Logger LOG = LoggerFactory.getLogger(ProfileEndpoints.class);
  private static final Duration DEFAULT = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final int MAX_SECONDS = 600;

  /** A recording keeps its newest part. */
  private static final long MAX_RECORDING_BYTES = 64L << 20;

  private static final String INDEX =
      """
      /debug/pprof/

      goroutine, threadcreate   threads with their stacks and locks
      block, mutex              the same: see BLOCKED and WAITING
      heap                      live objects by class (collects garbage first)
      profile?seconds=30        flight recording with profiling settings, a .jfr file for JDK Mission Control
      trace?seconds=1           flight recording with default settings
      cmdline                   the command line
      symbol                    no lookup needed: names are in the files
      """;

  private final ActorSystem<?> system;
  private final Executor blocking;
  private final AtomicBoolean recording = new AtomicBoolean();

  public ProfileEndpoints(ActorSystem<?> system) {
    this.system = system;
    this.blocking = system.dispatchers().lookup(DispatcherSelector.blocking());
  }

  /** The response for a path that starts with {@link #PREFIX}. */
  CompletionStage<HttpResponse> handle(HttpRequest request) {
    String name = request.getUri().path().substring(PREFIX.length());
    return switch (name) {
      case "" -> now(text(INDEX));
      case "cmdline" -> now(text(String.join("\0", commandLine())));
      case "symbol" -> now(text("num_symbols: 0\n"));
      case "goroutine", "threadcreate", "block", "mutex" -> command("threadPrint", "-l");
      case "heap" -> command("gcClassHistogram");
      case "profile" -> record(request, "profile", DEFAULT);
      case "trace" -> record(request, "default", SHORT);
      default -> now(HttpResponses.notFound());
    };
  }

  private static CompletionStage<HttpResponse> now(HttpResponse response) {
    return CompletableFuture.completedFuture(response);
  }

  private static HttpResponse text(String body) {
    return HttpResponses.text(StatusCodes.OK, body);
  }

  private static Iterable<String> commandLine() {
    return DebugEndpoints.commandLine().asList().stream().map(e -> e.getAsString()).toList();
  }

  /** Runs a diagnostic command of the JVM, like jcmd. */
  private CompletionStage<HttpResponse> command(String name, String... arguments) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            Object output =
                ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        name,
                        new Object[] {arguments},
                        new String[] {String[].class.getName()});
            return text(String.valueOf(output));
          } catch (JMException e) {
            LOG.warn("cannot run diagnostic command name={}", name, e);
            return HttpResponses.text(
                StatusCodes.INTERNAL_SERVER_ERROR, "the JVM does not offer " + name + "\n");
          }
        },
        blocking);
  }

  private CompletionStage<HttpResponse> record(
      HttpRequest request, String settings, Duration usual) {
    Duration wanted;
    try {
      wanted =
          HttpResponses.parameters(request, "seconds").stream()
              .findFirst()
              .map(Integer::parseInt)
              .map(Duration::ofSeconds)
              .orElse(usual);
    } catch (NumberFormatException notWhole) {
      return now(HttpResponses.text(StatusCodes.BAD_REQUEST, "seconds has to be a whole number\n"));
    }
    if (wanted.isNegative() || wanted.isZero() || wanted.toSeconds() > MAX_SECONDS) {
      return now(
          HttpResponses.text(
              StatusCodes.BAD_REQUEST, "seconds has to be within 1 and " + MAX_SECONDS + "\n"));
    }
    if (!recording.compareAndSet(false, true)) {
      return now(
          HttpResponses.text(StatusCodes.SERVICE_UNAVAILABLE, "another recording is running\n"));
    }
    CompletableFuture<HttpResponse> done = new CompletableFuture<>();
    CompletionStage<HttpResponse> response = done;
    response.whenComplete((sent, failure) -> recording.set(false));
    blocking.execute(() -> begin(settings, wanted, done));
    return response;
  }

  private void begin(String settings, Duration wanted, CompletableFuture<HttpResponse> done) {
    try {
      Recording running = new Recording(Configuration.getConfiguration(settings));
      running.setMaxSize(MAX_RECORDING_BYTES);
      running.start();
      LOG.info("flight recording started seconds={}", wanted.toSeconds());
      system
          .scheduler()
          .scheduleOnce(
              wanted, () -> blocking.execute(() -> end(running, done)), system.executionContext());
    } catch (IOException | ParseException | RuntimeException e) {
      LOG.warn("cannot start flight recording", e);
      done.complete(HttpResponses.text(StatusCodes.INTERNAL_SERVER_ERROR, e + "\n"));
    }
  }

  private static void end(Recording running, CompletableFuture<HttpResponse> done) {
    try (running) {
      running.stop();
      done.complete(
          HttpResponse.create()
              .addHeader(
                  RawHeader.create("Content-Disposition", "attachment; filename=\"member.jfr\""))
              .withEntity(ContentTypes.APPLICATION_OCTET_STREAM, content(running)));
    } catch (IOException | RuntimeException e) {
      done.completeExceptionally(new CompletionException("cannot read the flight recording", e));
    }
  }

  private static byte[] content(Recording running) throws IOException {
    Path file = Files.createTempFile("troupe", ".jfr");
    try {
      running.dump(file);
      return Files.readAllBytes(file);
    } finally {
      Files.delete(file);
    }
  }
}
