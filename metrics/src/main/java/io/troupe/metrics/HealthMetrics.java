package io.troupe.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;

/** Answers of the health endpoints. Thread-safe. */
public final class HealthMetrics {
  private final Counter success;
  private final Counter failures;
  private final Gauge check;
  private final Counter checks;

  HealthMetrics(Families families, Families bare) {
    success = bare.counter("etcd_server_health_success", "Answers of /health that were good.");
    failures = bare.counter("etcd_server_health_failures", "Answers of /health that were bad.");
    check =
        families.gauge(
            "etcd_server_healthcheck", "Last outcome of a check, 1 is good.", "type", "name");
    checks =
        families.counter(
            "etcd_server_healthchecks_total", "Outcomes of checks.", "type", "name", "status");
  }

  /** Answer of /health. */
  public void health(boolean good) {
    (good ? success : failures).inc();
  }

  /**
   * Outcome of one check.
   *
   * @param type livez or readyz
   */
  public void check(String type, String name, boolean good) {
    check.labelValues(type, name).set(good ? 1 : 0);
    checks.labelValues(type, name, good ? "success" : "error").inc();
  }
}
