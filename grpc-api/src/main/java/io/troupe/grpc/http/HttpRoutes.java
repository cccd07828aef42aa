package io.troupe.grpc.http;

import io.troupe.grpc.service.MaintenanceService;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.stream.Materializer;
import org.jspecify.annotations.Nullable;

/** Which path of HTTP/1.1 is answered by what (5.1). */
final class HttpRoutes {
  private static final String VERSION =
      "{\"etcdserver\":\""
          + MaintenanceService.ETCD_VERSION
          + "\",\"etcdcluster\":\"3.7.0\",\"storage\":\"3.7.0\"}";

  private static final String GATEWAY = "/v3/";
  private static final String OLD_GATEWAY = "/v3beta/";

  /**
   * What answers.
   *
   * @param profiles null if it is not offered
   * @param gateway null if it is not offered
   */
  record Endpoints(
      HealthEndpoints health,
      MetricsEndpoint metrics,
      DebugEndpoints debug,
      @Nullable ProfileEndpoints profiles,
      @Nullable JsonGateway gateway) {}

  private final AccessRules access;
  private final Endpoints endpoints;
  private final Materializer materializer;

  HttpRoutes(AccessRules access, Endpoints endpoints, Materializer materializer) {
    this.access = access;
    this.endpoints = endpoints;
    this.materializer = materializer;
  }

  /** Whether a path belongs to the JSON gateway. */
  static boolean isGateway(String path) {
    return path.startsWith(GATEWAY) || path.startsWith(OLD_GATEWAY);
  }

  /** Answers on a client port. */
  CompletionStage<HttpResponse> handle(HttpRequest request, ClientInfo visitor) {
    boolean gateway = endpoints.gateway() != null && isGateway(request.getUri().path());
    HttpResponse refusal = access.refusal(request, visitor, gateway);
    if (refusal != null) {
      return answer(request, refusal);
    }
    return route(request, visitor).thenApply(response -> access.allowed(request, response));
  }

  /** Answers on a port for metrics and health alone (H8). */
  CompletionStage<HttpResponse> handleMetrics(HttpRequest request) {
    CompletionStage<HttpResponse> answer = watched(request);
    return answer == null ? answer(request, HttpAnswers.notFound()) : answer;
  }

  /** Answers on a port for gRPC alone (T1). */
  CompletionStage<HttpResponse> refuse(HttpRequest request) {
    return answer(
        request,
        HttpAnswers.text(
            StatusCodes.HTTPVERSION_NOT_SUPPORTED, "This port serves gRPC over HTTP/2 only.\n"));
  }

  private @Nullable CompletionStage<HttpResponse> watched(HttpRequest request) {
    if (request.getUri().path().equals("/metrics")) {
      request.discardEntityBytes(materializer);
      return endpoints.metrics().handle(request);
    }
    CompletionStage<HttpResponse> health = endpoints.health().handle(request);
    if (health != null) {
      request.discardEntityBytes(materializer);
    }
    return health;
  }

  private CompletionStage<HttpResponse> route(HttpRequest request, ClientInfo visitor) {
    String path = request.getUri().path();
    JsonGateway gateway = endpoints.gateway();
    if (gateway != null && path.startsWith(OLD_GATEWAY)) {
      return gateway.handle(request, GATEWAY + path.substring(OLD_GATEWAY.length()), visitor);
    }
    if (gateway != null && path.startsWith(GATEWAY)) {
      return gateway.handle(request, path, visitor);
    }
    CompletionStage<HttpResponse> watched = watched(request);
    if (watched != null) {
      return watched;
    }
    ProfileEndpoints profiles = endpoints.profiles();
    if (profiles != null && path.startsWith(ProfileEndpoints.PREFIX)) {
      request.discardEntityBytes(materializer);
      return profiles.handle(request);
    }
    return switch (path) {
      case "/version" -> answer(request, get(request, version()));
      case "/debug/vars" ->
          answer(
              request,
              HttpAnswers.isGet(request) ? endpoints.debug().vars() : HttpAnswers.onlyGet());
      default -> answer(request, HttpAnswers.notFound());
    };
  }

  private static HttpResponse get(HttpRequest request, HttpResponse response) {
    return HttpAnswers.isGet(request) ? response : HttpAnswers.onlyGet();
  }

  private static HttpResponse version() {
    return HttpResponse.create().withEntity(ContentTypes.APPLICATION_JSON, VERSION);
  }

  private CompletionStage<HttpResponse> answer(HttpRequest request, HttpResponse response) {
    request.discardEntityBytes(materializer);
    return CompletableFuture.completedFuture(response);
  }
}
