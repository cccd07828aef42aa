package io.troupe.edge.connection;

/** The services of a port. */
public enum PortServices {
  /** gRPC over HTTP/2, everything else over HTTP/1.1. */
  ALL,
  /** gRPC only (T1). */
  GRPC,
  /** HTTP/1.1 only (T1). */
  HTTP,
  /** Metrics and health only (H8). */
  METRICS
}
