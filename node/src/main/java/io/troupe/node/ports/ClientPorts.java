package io.troupe.node.ports;

import io.troupe.edge.GrpcServer;
import io.troupe.edge.connection.ConnectionSecurity;
import io.troupe.edge.connection.OpenPort;
import io.troupe.edge.connection.PortSecurity;
import io.troupe.edge.connection.PortServices;
import io.troupe.node.config.ListenAddress;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.config.SocketUrl;
import io.troupe.node.config.TransportReader;
import io.troupe.node.logging.ListenerLog;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The open ports of one member that are not for other members. */
public final class ClientPorts {
  private final NodeSettings settings;
  private final List<OpenPort> open = new ArrayList<>();

  /** Log lines of each listener, written when the member is ready (B6). */
  private final List<Runnable> traffic = new ArrayList<>();

  private final Map<PortServices, List<Integer>> ports = new EnumMap<>(PortServices.class);

  public ClientPorts(NodeSettings settings) {
    this.settings = settings;
  }

  /**
   * Opens all ports that the settings name.
   *
   * @throws StartException ADDRESS if one cannot be bound
   */
  public void open(GrpcServer server, Optional<ConnectionSecurity> tls)
      throws InterruptedException {
    boolean apart = !settings.http().listenUrls().isEmpty();
    bind(
        server,
        tls,
        "listen-client-urls",
        settings.listenClientUrls(),
        apart ? PortServices.GRPC : PortServices.ALL);
    bind(server, tls, "listen-client-http-urls", settings.http().listenUrls(), PortServices.HTTP);
    bind(server, tls, "listen-metrics-urls", settings.http().metricsUrls(), PortServices.METRICS);
  }

  /** A plain and a TLS URL may name the same address: the first of them opens it for both (T2). */
  private void bind(
      GrpcServer server,
      Optional<ConnectionSecurity> tls,
      String key,
      List<URI> urls,
      PortServices serves)
      throws InterruptedException {
    Map<URI, OpenPort> bound = new LinkedHashMap<>();
    for (URI url : urls) {
      OpenPort port = null;
      for (Map.Entry<URI, OpenPort> other : bound.entrySet()) {
        port = ListenAddress.isSame(url, other.getKey()) ? other.getValue() : port;
      }
      if (port == null) {
        port = bind(server, security(tls, url, urls), key, url, serves);
        open.add(port);
      }
      bound.put(url, port);
      announced(url, serves, port);
    }
  }

  private static PortSecurity security(Optional<ConnectionSecurity> tls, URI url, List<URI> urls) {
    List<URI> same =
        urls.stream()
            .filter(other -> other.equals(url) || ListenAddress.isSame(url, other))
            .toList();
    if (same.stream().noneMatch(TransportReader::isSecure)) {
      return PortSecurity.none();
    }
    ConnectionSecurity used = tls.orElseThrow();
    return same.stream().allMatch(TransportReader::isSecure)
        ? PortSecurity.of(used)
        : PortSecurity.either(used);
  }

  private void announced(URI url, PortServices serves, OpenPort port) {
    if (!SocketUrl.is(url)) {
      ports.computeIfAbsent(serves, first -> new ArrayList<>()).add(port.port());
    }
    ListenerLog.opened(settings, url, serves, port.address());
    traffic.add(() -> ListenerLog.serves(url, serves, port.address()));
  }

  private static OpenPort bind(
      GrpcServer server, PortSecurity security, String key, URI url, PortServices serves)
      throws InterruptedException {
    try {
      CompletionStage<OpenPort> opening =
          SocketUrl.is(url)
              ? server.bind(SocketUrl.path(url), serves, security)
              : server.bind(url.getHost(), url.getPort(), serves, security);
      return opening.toCompletableFuture().get(10, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new StartException(
          ExitCode.ADDRESS, "cannot listen on troupe." + key + " = " + url + ": " + reason(e), e);
    }
  }

  private static String reason(Exception failure) {
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    return String.valueOf(cause.getMessage());
  }

  /** Logs that the ports serve calls from now on. */
  public void announce() {
    traffic.forEach(Runnable::run);
  }

  /** Local ports that serve that, in the order of their URLs. */
  public List<Integer> of(PortServices serves) {
    return List.copyOf(ports.getOrDefault(serves, List.of()));
  }

  /**
   * Closes all ports at the same time. Completes when no connection is left or the grace period has
   * expired.
   */
  public CompletableFuture<Void> close(Duration grace) {
    return CompletableFuture.allOf(
        open.stream()
            .map(port -> port.close(grace).toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new));
  }
}
