package io.troupe.grpc.service;

import io.troupe.grpc.api.health.HealthCheckRequest;
import io.troupe.grpc.api.health.HealthCheckResponse;
import io.troupe.grpc.api.health.HealthCheckResponse.ServingStatus;
import io.troupe.grpc.api.health.HealthListResponse;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;

/** grpc.health.v1. Only the empty service name is known. */
public final class HealthService {
  /** NotFound for any other name. */
  public HealthCheckResponse check(HealthCheckRequest request) {
    if (!request.getService().isEmpty()) {
      throw new GrpcException(GrpcStatus.NOT_FOUND, "unknown service");
    }
    return response(ServingStatus.SERVING);
  }

  /** What a stream shows for that name. */
  public HealthCheckResponse watched(HealthCheckRequest request) {
    return response(
        request.getService().isEmpty() ? ServingStatus.SERVING : ServingStatus.SERVICE_UNKNOWN);
  }

  /** All names. */
  public HealthListResponse list() {
    return HealthListResponse.newBuilder().putStatuses("", response(ServingStatus.SERVING)).build();
  }

  private static HealthCheckResponse response(ServingStatus status) {
    return HealthCheckResponse.newBuilder().setStatus(status).build();
  }
}
