package io.troupe.edge.http;

import io.troupe.edge.connection.ClientInfo;
import io.troupe.edge.jsongateway.JsonGateway;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.stream.Materializer;
import org.jspecify.annotations.Nullable;

/** Maps the paths of HTTP/1.1 to their handlers (5.1). */
public final class HttpRoutes {
  private static final String GATEWAY = "/v3/";
  private static final String OLD_GATEWAY = "/v3beta/";

  /**
   * The handlers.
   *
   * @param profiles null if profiling is disabled
   * @param gateway null if the JSON gateway is disabled
   * @param version {@code /version}
   */
  public record Endpoints(
      HealthEndpoints health,
      MetricsEndpoint metrics,
      DebugEndpoints debug,
      @Nullable ProfileEndpoints profiles,
      @Nullable JsonGateway gateway,
      StatusPage statusPage,
      VersionEndpoint version) {}

  private final AccessRules access;
  private final Endpoints endpoints;
  private final Materializer materializer;

  public HttpRoutes(AccessRules access, Endpoints endpoints, Materializer materializer) {
    this.access = access;
    this.endpoints = endpoints;
    this.materializer = materializer;
  }

  /** Whether a path belongs to the JSON gateway. */
  public static boolean isGateway(String path) {
    return path.startsWith(GATEWAY) || path.startsWith(OLD_GATEWAY);
  }

  /** Handles a request on a client port. */
  public CompletionStage<HttpResponse> handle(HttpRequest request, ClientInfo clientInfo) {
    boolean gateway = endpoints.gateway() != null && isGateway(request.getUri().path());
    HttpResponse refusal = access.refusal(request, clientInfo, gateway);
    if (refusal != null) {
      return respond(request, refusal);
    }
    if (request.getUri().path().equals("/")) {
      // Without the headers that would allow pages of other sites to read it.
      return respond(request, endpoints.statusPage().handle(request));
    }
    return route(request, clientInfo).thenApply(response -> access.allowed(request, response));
  }

  /** Handles a request on a port that serves only metrics and health (H8). */
  public CompletionStage<HttpResponse> handleMetrics(HttpRequest request) {
    CompletionStage<HttpResponse> response = monitoring(request);
    return response == null ? respond(request, HttpResponses.notFound()) : response;
  }

  /** Rejects a request on a port that serves only gRPC (T1). */
  public CompletionStage<HttpResponse> refuse(HttpRequest request) {
    return respond(
        request,
        HttpResponses.text(
            StatusCodes.HTTPVERSION_NOT_SUPPORTED, "This port serves gRPC over HTTP/2 only.\n"));
  }

  private @Nullable CompletionStage<HttpResponse> monitoring(HttpRequest request) {
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

  private CompletionStage<HttpResponse> route(HttpRequest request, ClientInfo clientInfo) {
    String path = request.getUri().path();
    JsonGateway gateway = endpoints.gateway();
    if (gateway != null && path.startsWith(OLD_GATEWAY)) {
      return gateway.handle(request, GATEWAY + path.substring(OLD_GATEWAY.length()), clientInfo);
    }
    if (gateway != null && path.startsWith(GATEWAY)) {
      return gateway.handle(request, path, clientInfo);
    }
    CompletionStage<HttpResponse> monitoring = monitoring(request);
    if (monitoring != null) {
      return monitoring;
    }
    ProfileEndpoints profiles = endpoints.profiles();
    if (profiles != null && path.startsWith(ProfileEndpoints.PREFIX)) {
      request.discardEntityBytes(materializer);
      return profiles.handle(request);
    }
    return switch (path) {
      case "/version" -> respond(request, endpoints.version().handle(request));
      case "/debug/vars" ->
          respond(
              request,
              HttpResponses.isGet(request) ? endpoints.debug().vars() : HttpResponses.onlyGet());
      default -> respond(request, HttpResponses.notFound());
    };
  }

  private CompletionStage<HttpResponse> respond(HttpRequest request, HttpResponse response) {
    request.discardEntityBytes(materializer);
    return CompletableFuture.completedFuture(response);
  }
}
