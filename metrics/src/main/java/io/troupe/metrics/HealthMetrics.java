package io.troupe.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;

/** Metrics of the health endpoints. Thread-safe. */
public final class HealthMetrics {
  private final Counter success;
  private final Counter failures;
  private final Gauge check;
  private final Counter checks;

  HealthMetrics(Families families, Families bare) {
    success = bare.counter("etcd_server_health_success", "Successful responses of /health.");
    failures = bare.counter("etcd_server_health_failures", "Failed responses of /health.");
    check =
        families.gauge(
            "etcd_server_healthcheck", "Last result of a check, 1 is success.", "type", "name");
    checks =
        families.counter(
            "etcd_server_healthchecks_total", "Results of checks.", "type", "name", "status");
  }

  /** /health responded. */
  public void health(boolean good) {
    (good ? success : failures).inc();
  }

  /**
   * A check was executed.
   *
   * @param type livez or readyz
   */
  public void check(String type, String name, boolean good) {
    check.labelValues(type, name).set(good ? 1 : 0);
    checks.labelValues(type, name, good ? "success" : "error").inc();
  }
}
