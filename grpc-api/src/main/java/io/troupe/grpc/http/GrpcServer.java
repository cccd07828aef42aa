package io.troupe.grpc.http;

import io.troupe.grpc.service.EtcdServices;
import io.troupe.model.MemoryBudget;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.settings.ServerSettings;
import org.apache.pekko.japi.function.Function;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.SystemMaterializer;

/**
 * The client port. Without TLS the first bytes of a connection decide: HTTP/2 is gRPC, HTTP/1 is
 * everything else; with TLS the path and the kind of content (T2). Settings of the HTTP layer stand
 * under {@code pekko.http.server} in troupe-defaults.conf.
 */
public final class GrpcServer {
  private final ActorSystem<?> system;
  private final EtcdServices services;
  private final Readiness readiness = new Readiness();
  private final GrpcHandler grpc;
  private final HttpRoutes http;

  /** What a port serves. */
  public enum Listener {
    /** gRPC over HTTP/2, everything else over HTTP/1.1. */
    ALL,
    /** gRPC alone (T1). */
    GRPC,
    /** HTTP/1.1 alone (T1). */
    HTTP,
    /** Metrics and health alone (H8). */
    METRICS
  }

  /**
   * A server.
   *
   * @param settings of the HTTP/1.1 side
   * @param tracing where calls are traced to
   * @param ready calls wait until it completes (B1); what does not need the member is answered
   */
  public GrpcServer(
      ActorSystem<?> system,
      EtcdServices services,
      HttpSettings settings,
      Tracing tracing,
      CompletionStage<?> ready) {
    this.system = system;
    this.services = services;
    Materializer materializer = SystemMaterializer.get(system).materializer();
    LeaderWatch leader = new LeaderWatch(services.member().status());
    Duration electionTimeout = services.settings().electionTimeout();
    CorruptGate corrupt = new CorruptGate(services.member().status());
    // Ends with the system.
    system
        .scheduler()
        .scheduleWithFixedDelay(
            electionTimeout,
            electionTimeout,
            () -> {
              leader.check();
              corrupt.check();
            },
            system.executionContext());
    int maxReceiveBytes = services.settings().maxReceiveBytes();
    CallGates gates =
        new CallGates(
            new MemoryBudget(services.settings().maxAnswerBytes()),
            new LearnerGate(services.member()::isLearner),
            corrupt,
            leader,
            services.member().metrics().rpc(),
            tracing);
    GrpcMethods methods = EtcdEndpoints.of(services, materializer);
    this.grpc =
        new GrpcHandler(
            methods,
            maxReceiveBytes,
            gates,
            new RequestLog(services.settings().slowCall(), Clock.systemUTC()),
            materializer);
    this.http =
        new HttpRoutes(
            new AccessRules(settings, () -> services.member().state().auth().isEnabled()),
            new HttpRoutes.Endpoints(
                new HealthEndpoints(services),
                new MetricsEndpoint(
                    services.member().metrics(),
                    system.dispatchers().lookup(DispatcherSelector.blocking())),
                new DebugEndpoints(services.member()),
                settings.profiling() ? new ProfileEndpoints(system) : null,
                settings.jsonGateway()
                    ? new JsonGateway(methods, gates, readiness, maxReceiveBytes, system)
                    : null),
            materializer);
    awaitReady(ready);
  }

  private void awaitReady(CompletionStage<?> ready) {
    Duration timeout = services.settings().requestTimeout();
    Cancellable turns =
        system
            .scheduler()
            .scheduleWithFixedDelay(timeout, timeout, readiness::turn, system.executionContext());
    ready.thenAccept(
        published -> {
          turns.cancel();
          readiness.open();
        });
  }

  /** Loads the HTTP layer; only so that this happens while something else is waited for. */
  public static void prepare(ActorSystem<?> system) {
    ServerSettings.create(system.classicSystem());
    Http.get(system);
    SystemMaterializer.get(system).materializer();
  }

  /**
   * Opens the port.
   *
   * @param host address or name to listen on
   * @param port 0 for any free one
   * @param serves what it serves
   * @return fails when the address cannot be bound
   */
  public CompletionStage<ServerBinding> bind(String host, int port, Listener serves) {
    boolean grpcToo = serves == Listener.ALL || serves == Listener.GRPC;
    Function<HttpRequest, CompletionStage<HttpResponse>> handler =
        switch (serves) {
          case ALL -> request -> isHttp2(request) ? grpc(request, Visitor.PLAIN) : http(request);
          case GRPC -> request -> isHttp2(request) ? grpc(request, Visitor.PLAIN) : refuse(request);
          case HTTP -> this::http;
          case METRICS -> http::handleMetrics;
        };
    ServerSettings settings = ServerSettings.create(system.classicSystem());
    return Http.get(system)
        .newServerAt(host, port)
        .withSettings(settings.withEnableHttp2(grpcToo))
        .bind(handler);
  }

  private CompletionStage<HttpResponse> http(HttpRequest request) {
    return http.handle(request, Visitor.PLAIN);
  }

  private CompletionStage<HttpResponse> refuse(HttpRequest request) {
    return http.refuse(request);
  }

  /**
   * Opens a port with TLS, over which HTTP/1.1 and HTTP/2 are spoken alike.
   *
   * @param host address or name to listen on
   * @param port 0 for any free one
   * @param serves what it serves
   * @return fails when the address cannot be bound
   */
  public CompletionStage<ServerBinding> bindSecurely(
      String host, int port, Listener serves, ConnectionSecurity security) {
    SecureListener listener = new SecureListener(system, security, serves);
    Function<HttpRequest, CompletionStage<HttpResponse>> handler =
        switch (serves) {
          case ALL ->
              request ->
                  isCall(request)
                      ? grpc(request, listener.visitor(request))
                      : http.handle(request, listener.visitor(request));
          case GRPC -> request -> grpc(request, listener.visitor(request));
          case HTTP -> request -> http.handle(request, listener.visitor(request));
          case METRICS -> http::handleMetrics;
        };
    ServerSettings settings = ServerSettings.create(system.classicSystem());
    return ConnectionGuards.opening(
        listener,
        () ->
            Http.get(system)
                .newServerAt(host, port)
                // Only with HTTP/2 does it let ConnectionGuards see the port.
                .withSettings(settings.withEnableHttp2(true).withRemoteAddressAttribute(true))
                .bind(handler));
  }

  /** T2, for ports with TLS. */
  private static boolean isCall(HttpRequest request) {
    return isHttp2(request)
        && GrpcHandler.isGrpc(request)
        && !HttpRoutes.isGateway(request.getUri().path());
  }

  private static boolean isHttp2(HttpRequest request) {
    return request.protocol().value().equals("HTTP/2.0");
  }

  private CompletionStage<HttpResponse> grpc(HttpRequest request, Visitor visitor) {
    return readiness.isReady()
        ? grpc.handle(request, visitor)
        : readiness
            .await()
            .handle(
                (ready, failure) ->
                    failure == null ? grpc.handle(request, visitor) : grpc.refuse(request, failure))
            .thenCompose(answer -> answer);
  }
}
