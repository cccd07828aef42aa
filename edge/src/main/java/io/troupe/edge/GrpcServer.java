package io.troupe.edge;

import io.troupe.edge.calls.CallInterceptors;
import io.troupe.edge.calls.CorruptionInterceptor;
import io.troupe.edge.calls.EtcdEndpoints;
import io.troupe.edge.calls.GrpcHandler;
import io.troupe.edge.calls.GrpcMethods;
import io.troupe.edge.calls.LearnerInterceptor;
import io.troupe.edge.calls.Readiness;
import io.troupe.edge.calls.RequestLog;
import io.troupe.edge.calls.RequireLeaderInterceptor;
import io.troupe.edge.calls.Tracing;
import io.troupe.edge.connection.ClientConnection;
import io.troupe.edge.connection.ClientConnections;
import io.troupe.edge.connection.ClientInfo;
import io.troupe.edge.connection.ClientPort;
import io.troupe.edge.connection.ConnectionLimits;
import io.troupe.edge.connection.ConnectionSecurity;
import io.troupe.edge.connection.ConnectionState;
import io.troupe.edge.connection.Connections;
import io.troupe.edge.connection.KeepAlive;
import io.troupe.edge.connection.ListenerAddress;
import io.troupe.edge.connection.OpenPort;
import io.troupe.edge.connection.PortSecurity;
import io.troupe.edge.connection.PortServices;
import io.troupe.edge.connection.SecureListener;
import io.troupe.edge.connection.SharedPort;
import io.troupe.edge.connection.TlsDetectingPort;
import io.troupe.edge.engine.HttpLayer;
import io.troupe.edge.http.AccessRules;
import io.troupe.edge.http.DebugEndpoints;
import io.troupe.edge.http.HealthEndpoints;
import io.troupe.edge.http.HttpRoutes;
import io.troupe.edge.http.HttpSettings;
import io.troupe.edge.http.MetricsEndpoint;
import io.troupe.edge.http.ProfileEndpoints;
import io.troupe.edge.http.StatusPage;
import io.troupe.edge.http.VersionEndpoint;
import io.troupe.edge.jsongateway.JsonGateway;
import io.troupe.edge.unix.UnixListener;
import io.troupe.server.EtcdServices;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.apache.pekko.Done;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.settings.ServerSettings;
import org.apache.pekko.io.Inet;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Tcp;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * The client ports. Without TLS the first bytes of a connection select the protocol: HTTP/2 is
 * gRPC, HTTP/1 is everything else. With TLS the path and the content type select it (T2). Settings
 * of the HTTP layer are under {@code pekko.http.server} in troupe-defaults.conf.
 */
public final class GrpcServer {
  /** Interval between two checks of the memory that slow clients hold. */
  private static final Duration RELIEF_INTERVAL = Duration.ofSeconds(1);

  private final ActorSystem<?> system;
  private final EtcdServices services;
  private final Readiness readiness = new Readiness();
  private final GrpcHandler grpc;
  private final HttpRoutes http;
  private final KeepAlive keepAlive;
  private final ConnectionLimits limits;
  private final ClientConnections clients;
  private final boolean sharedPorts;
  private final Materializer materializer;

  /**
   * Creates a server.
   *
   * @param settings of all its ports
   * @param tracing traces the calls
   * @param ready calls wait until it completes (B1); requests that do not need the member are
   *     served before
   */
  public GrpcServer(
      ActorSystem<?> system,
      EtcdServices services,
      HttpSettings settings,
      Tracing tracing,
      CompletionStage<?> ready) {
    this.system = system;
    this.services = services;
    this.keepAlive = settings.keepAlive();
    this.limits = settings.limits();
    this.clients = new ClientConnections(limits, services.member().clientMemory());
    services
        .member()
        .metrics()
        .beforeFirstLook(() -> clients.register(services.member().metrics()));
    this.sharedPorts = settings.sharedPorts();
    this.materializer = SystemMaterializer.get(system).materializer();
    RequireLeaderInterceptor leader = new RequireLeaderInterceptor(services.member().status());
    Duration electionTimeout = services.settings().electionTimeout();
    CorruptionInterceptor corrupt = new CorruptionInterceptor(services.member().status());
    // The timer stops with the actor system.
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
    system
        .scheduler()
        .scheduleWithFixedDelay(
            RELIEF_INTERVAL, RELIEF_INTERVAL, clients::relieve, system.executionContext());
    int maxReceiveBytes = services.settings().maxReceiveBytes();
    CallInterceptors interceptors =
        new CallInterceptors(
            new LearnerInterceptor(services.member()::isLearner),
            corrupt,
            leader,
            services.member().metrics().rpc(),
            tracing);
    GrpcMethods methods = EtcdEndpoints.of(services, materializer);
    this.grpc =
        new GrpcHandler(
            methods,
            maxReceiveBytes,
            interceptors,
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
                    ? new JsonGateway(
                        methods,
                        interceptors,
                        readiness,
                        maxReceiveBytes,
                        system,
                        services::identified)
                    : null,
                new StatusPage(services.member(), settings.statusPage(), settings.version()),
                new VersionEndpoint(services.member())),
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

  /** Loads the HTTP layer early, while the startup waits for something else. */
  public static void prepare(ActorSystem<?> system) {
    ServerSettings.create(system.classicSystem());
    Http.get(system);
    SystemMaterializer.get(system).materializer();
  }

  /**
   * Opens a port.
   *
   * @param host address or name to listen on
   * @param port 0 for any free one
   * @param serves the services of the port
   * @param security whether the port uses TLS, for HTTP/1.1 and HTTP/2 alike
   * @return fails when the address cannot be bound
   */
  public CompletionStage<OpenPort> bind(
      String host, int port, PortServices serves, PortSecurity security) {
    ServerSettings settings = ServerSettings.create(system.classicSystem());
    Connections connections = port(serves, security);
    return Tcp.get(system)
        .bind(
            host, port, settings.getBacklog(), options(settings), false, Optional.<Duration>empty())
        .mapAsyncUnordered(
            settings.getMaxConnections(),
            accepted -> serve(connections, accepted.remoteAddress(), accepted.flow()))
        .to(Sink.ignore())
        .run(materializer)
        .thenApply(binding -> new TcpPort(binding, connections));
  }

  private CompletionStage<Done> serve(
      Connections connections,
      @Nullable InetSocketAddress address,
      Flow<ByteString, ByteString, NotUsed> bytes) {
    ConnectionState begun = clients.begin(address == null ? null : address.getAddress());
    if (begun == null) {
      ClientConnections.CLOSED.join(bytes).run(materializer);
      return CompletableFuture.completedFuture(Done.getInstance());
    }
    return connections
        .serve(new ClientConnection(address, bytes, begun))
        .whenComplete((done, failure) -> clients.ended(begun));
  }

  private List<Inet.SocketOption> options(ServerSettings settings) {
    List<Inet.SocketOption> options = new ArrayList<>();
    settings.getSocketOptions().forEach(options::add);
    if (sharedPorts) {
      options.add(new SharedPort());
    }
    return options;
  }

  /**
   * Opens a unix socket.
   *
   * @param path of its file; a stale socket is replaced
   * @param serves the services of the socket
   * @param security whether the socket uses TLS
   * @return fails when the socket cannot be bound
   */
  public CompletionStage<OpenPort> bind(Path path, PortServices serves, PortSecurity security) {
    ServerSettings settings = ServerSettings.create(system.classicSystem());
    Connections connections = port(serves, security);
    UnixListener listener;
    try {
      listener = UnixListener.open(path, settings.getBacklog());
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    listener
        .connections()
        .mapAsyncUnordered(settings.getMaxConnections(), bytes -> serve(connections, null, bytes))
        .to(Sink.ignore())
        .run(materializer);
    return CompletableFuture.completedFuture(new UnixPort(listener, connections));
  }

  private Connections port(PortServices serves, PortSecurity security) {
    ConnectionSecurity tls = security.tls().orElse(null);
    if (tls == null) {
      return new ClientPort(system, keepAlive, limits, serves, null, plain(serves));
    }
    // Only here: without TLS its classes are not loaded.
    SecureListener listener = new SecureListener(system, tls, serves, limits.handshakes());
    ClientPort secure =
        new ClientPort(system, keepAlive, limits, serves, listener, secured(serves));
    if (!security.plainToo()) {
      return secure;
    }
    return new TlsDetectingPort(
        new ClientPort(system, keepAlive, limits, serves, null, plain(serves)),
        secure,
        listener,
        materializer);
  }

  private BiFunction<HttpRequest, ClientInfo, CompletionStage<HttpResponse>> plain(
      PortServices serves) {
    return switch (serves) {
      case ALL ->
          (request, clientInfo) ->
              HttpLayer.isHttp2(request)
                  ? grpc(request, clientInfo)
                  : http.handle(request, clientInfo);
      case GRPC ->
          (request, clientInfo) ->
              HttpLayer.isHttp2(request) ? grpc(request, clientInfo) : http.refuse(request);
      case HTTP -> http::handle;
      case METRICS -> (request, clientInfo) -> http.handleMetrics(request);
    };
  }

  private BiFunction<HttpRequest, ClientInfo, CompletionStage<HttpResponse>> secured(
      PortServices serves) {
    return switch (serves) {
      case ALL ->
          (request, clientInfo) ->
              isCall(request) ? grpc(request, clientInfo) : http.handle(request, clientInfo);
      case GRPC -> this::grpc;
      case HTTP -> http::handle;
      case METRICS -> (request, clientInfo) -> http.handleMetrics(request);
    };
  }

  private record TcpPort(Tcp.ServerBinding binding, Connections connections) implements OpenPort {
    @Override
    public String address() {
      return ListenerAddress.text(binding.localAddress());
    }

    @Override
    public int port() {
      return binding.localAddress().getPort();
    }

    @Override
    public CompletionStage<Done> close(Duration grace) {
      return binding.unbind().thenCompose(unbound -> connections.close(grace));
    }
  }

  private record UnixPort(UnixListener listener, Connections connections) implements OpenPort {
    @Override
    public String address() {
      return listener.path().toString();
    }

    @Override
    public int port() {
      return -1;
    }

    @Override
    public CompletionStage<Done> close(Duration grace) {
      listener.close();
      return connections.close(grace);
    }
  }

  /** Whether the request is a gRPC call, on a port with TLS (T2). */
  private static boolean isCall(HttpRequest request) {
    return HttpLayer.isHttp2(request)
        && GrpcHandler.isGrpc(request)
        && !HttpRoutes.isGateway(request.getUri().path());
  }

  private CompletionStage<HttpResponse> grpc(HttpRequest request, ClientInfo clientInfo) {
    return readiness.isReady()
        ? grpc.handle(request, clientInfo)
        : readiness
            .await()
            .handle(
                (ready, failure) ->
                    failure == null
                        ? grpc.handle(request, clientInfo)
                        : grpc.refuse(request, failure))
            .thenCompose(response -> response);
  }
}
