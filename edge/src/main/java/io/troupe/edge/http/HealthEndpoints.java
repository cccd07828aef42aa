package io.troupe.edge.http;

import io.troupe.edge.json.JsonText;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.metrics.HealthMetrics;
import io.troupe.model.AlarmType;
import io.troupe.server.EtcdServices;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** /health, /livez, /readyz (H1-H4). */
public final class HealthEndpoints {
  private static final Logger LOG = LoggerFactory.getLogger(HealthEndpoints.class);
  private static final String OK = "";

  /** A check; completes with the reason of its failure, or with {@link #OK}. */
  private interface Check extends Supplier<CompletionStage<String>> {}

  private final EtcdServices services;
  private final HealthMetrics metrics;
  private final Map<String, Check> live = new LinkedHashMap<>();
  private final Map<String, Check> ready = new LinkedHashMap<>();

  public HealthEndpoints(EtcdServices services) {
    this.services = services;
    this.metrics = services.member().metrics().health();
    live.put("serializable_read", () -> outcome(services.probe().serializable()));
    ready.put("data_corruption", this::corruption);
    ready.put("serializable_read", () -> outcome(services.probe().serializable()));
    ready.put("linearizable_read", () -> outcome(services.probe().linearizable()));
    ready.put("non_learner", this::nonLearner);
  }

  /** The response, or null if the path is not a health path. */
  @Nullable CompletionStage<HttpResponse> handle(HttpRequest request) {
    String path = request.getUri().path();
    if (path.equals("/health")) {
      return HttpResponses.isGet(request) ? health(request) : onlyGet();
    }
    CompletionStage<HttpResponse> response = handle(request, path, "livez", live);
    return response == null ? handle(request, path, "readyz", ready) : response;
  }

  private static CompletionStage<HttpResponse> onlyGet() {
    return CompletableFuture.completedFuture(HttpResponses.onlyGet());
  }

  private @Nullable CompletionStage<HttpResponse> handle(
      HttpRequest request, String path, String type, Map<String, Check> checks) {
    if (!path.startsWith("/" + type)) {
      return null;
    }
    Map<String, Check> wanted = new LinkedHashMap<>();
    String rest = path.substring(type.length() + 1);
    if (rest.isEmpty()) {
      wanted.putAll(checks);
      for (String name : HttpResponses.parameters(request, "exclude")) {
        if (wanted.remove(name) == null) {
          LOG.warn("ignored exclude parameter, no such health check path={} name={}", path, name);
        }
      }
    } else if (rest.startsWith("/")) {
      Check one = checks.get(rest.substring(1));
      if (one != null) {
        wanted.put(rest.substring(1), one);
      }
    }
    if (wanted.isEmpty() && !rest.isEmpty()) {
      return null;
    }
    if (!HttpResponses.isGet(request)) {
      return onlyGet();
    }
    boolean verbose = HttpResponses.hasParameter(request, "verbose");
    return run(type, wanted).thenApply(outcomes -> respond(type, outcomes, verbose));
  }

  private CompletionStage<Map<String, String>> run(String type, Map<String, Check> checks) {
    CompletionStage<Map<String, String>> all =
        CompletableFuture.completedFuture(new LinkedHashMap<>());
    for (Map.Entry<String, Check> check : checks.entrySet()) {
      all =
          all.thenCombine(
              check.getValue().get(),
              (outcomes, reason) -> {
                metrics.check(type, check.getKey(), reason.equals(OK));
                outcomes.put(check.getKey(), reason);
                return outcomes;
              });
    }
    return all;
  }

  private static HttpResponse respond(String type, Map<String, String> outcomes, boolean verbose) {
    List<String> failed = new ArrayList<>();
    StringBuilder details = new StringBuilder();
    outcomes.forEach(
        (name, reason) -> {
          if (reason.equals(OK)) {
            details.append("[+]").append(name).append(" ok\n");
          } else {
            details.append("[-]").append(name).append(" failed: ").append(reason).append('\n');
            failed.add(name);
          }
        });
    if (!failed.isEmpty()) {
      LOG.warn("health check failed type={} checks={} details={}", type, failed, outcomes);
      return HttpResponses.text(StatusCodes.SERVICE_UNAVAILABLE, details + "\n");
    }
    return HttpResponses.text(StatusCodes.OK, verbose ? details + "ok\n" : "ok\n");
  }

  private CompletionStage<String> corruption() {
    boolean corrupt =
        services.member().state().alarms().stream()
            .anyMatch(alarm -> alarm.type() == AlarmType.CORRUPT);
    return CompletableFuture.completedFuture(corrupt ? "alarm activated: CORRUPT" : OK);
  }

  private CompletionStage<String> nonLearner() {
    return CompletableFuture.completedFuture(
        services.member().isLearner() ? "not supported for learner" : OK);
  }

  private static CompletionStage<String> outcome(CompletionStage<?> read) {
    return read.handle((done, failure) -> failure == null ? OK : GrpcErrors.of(failure).message());
  }

  private CompletionStage<HttpResponse> health(HttpRequest request) {
    Set<String> excluded = HttpResponses.parameters(request, "exclude");
    boolean serializable = HttpResponses.parameters(request, "serializable").contains("true");
    String alarm = alarm(excluded);
    if (!alarm.equals(OK)) {
      return CompletableFuture.completedFuture(health(alarm));
    }
    if (!serializable && services.member().status().leader().isNone()) {
      return CompletableFuture.completedFuture(health("RAFT NO LEADER"));
    }
    CompletionStage<Long> read =
        serializable ? services.probe().serializable() : services.probe().linearizable();
    return outcome(read)
        .thenApply(reason -> health(reason.equals(OK) ? OK : "RANGE ERROR:" + reason));
  }

  private String alarm(Set<String> excluded) {
    return services.member().state().alarms().stream()
        .filter(alarm -> !excluded.contains(alarm.type().name()))
        .map(
            alarm ->
                switch (alarm.type()) {
                  case NOSPACE -> "ALARM NOSPACE";
                  case CORRUPT -> "ALARM CORRUPT";
                  case NONE -> "ALARM UNKNOWN";
                })
        .findFirst()
        .orElse(OK);
  }

  /** H2: the content type is not JSON, and only the unhealthy body ends with a newline. */
  private HttpResponse health(String reason) {
    boolean good = reason.equals(OK);
    metrics.health(good);
    if (good) {
      return HttpResponse.create()
          .withEntity(ContentTypes.TEXT_PLAIN_UTF8, "{\"health\":\"true\",\"reason\":\"\"}");
    }
    LOG.warn("/health check failed reason={}", reason);
    return HttpResponses.text(
        StatusCodes.SERVICE_UNAVAILABLE,
        "{\"health\":\"false\",\"reason\":" + JsonText.quoted(reason) + "}\n");
  }
}
