package io.troupe.server;

import io.troupe.grpc.api.health.HealthCheckRequest;
import io.troupe.grpc.api.health.HealthCheckResponse;
import io.troupe.grpc.api.health.HealthCheckResponse.ServingStatus;
import io.troupe.grpc.api.health.HealthListResponse;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * grpc.health.v1. Only the empty service name is known. It is SERVING, except during an operation
 * that clients should avoid (MT5). Thread-safe.
 */
public final class HealthService {
  private static final Logger LOG = LoggerFactory.getLogger(HealthService.class);

  private final Set<Consumer<HealthCheckResponse>> watchers = new HashSet<>();
  private int suspensions;

  /** NotFound for any other name. */
  public HealthCheckResponse check(HealthCheckRequest request) {
    if (!request.getService().isEmpty()) {
      throw new GrpcException(GrpcStatus.NOT_FOUND, "unknown service");
    }
    return now();
  }

  /**
   * Reports the status immediately, and each time it changes, in order.
   *
   * @param watcher must not block
   * @return cancels the watch
   */
  public synchronized Runnable watch(
      HealthCheckRequest request, Consumer<HealthCheckResponse> watcher) {
    if (!request.getService().isEmpty()) {
      watcher.accept(response(ServingStatus.SERVICE_UNKNOWN));
      return () -> {};
    }
    watchers.add(watcher);
    watcher.accept(now());
    return () -> forget(watcher);
  }

  private synchronized void forget(Consumer<HealthCheckResponse> watcher) {
    watchers.remove(watcher);
  }

  /** The status of all services. */
  public HealthListResponse list() {
    return HealthListResponse.newBuilder().putStatuses("", now()).build();
  }

  /** Reports NOT_SERVING until {@link #resume}, which must be called once per call of this. */
  synchronized void suspend(String reason) {
    if (++suspensions == 1) {
      LOG.warn("grpc service status changed service= status=NOT_SERVING reason={}", reason);
      notifyWatchers();
    }
  }

  synchronized void resume() {
    if (--suspensions == 0) {
      LOG.info("grpc service status changed service= status=SERVING");
      notifyWatchers();
    }
  }

  private void notifyWatchers() {
    HealthCheckResponse now = now();
    watchers.forEach(watcher -> watcher.accept(now));
  }

  private synchronized HealthCheckResponse now() {
    return response(suspensions == 0 ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
  }

  private static HealthCheckResponse response(ServingStatus status) {
    return HealthCheckResponse.newBuilder().setStatus(status).build();
  }
}
