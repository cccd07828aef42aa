package io.troupe.edge.http;

/** When the status page is served. */
public enum StatusPageMode {
  /** While authentication is off. */
  AUTO,
  /** Always: any client that reaches the port can read names, URLs and sizes. */
  ALWAYS,
  /** Never. */
  NEVER
}
