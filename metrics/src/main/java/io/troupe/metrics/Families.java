package io.troupe.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.function.DoubleSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates metric families with common options: no exemplars, classic buckets. */
final class Families {
  private static final Logger LOG = LoggerFactory.getLogger(Families.class);

  private final PrometheusRegistry registry;

  Families(PrometheusRegistry registry) {
    this.registry = registry;
  }

  Counter counter(String name, String help, String... labels) {
    return Counter.builder()
        .name(name)
        .help(help)
        .labelNames(labels)
        .withoutExemplars()
        .register(registry);
  }

  /** A gauge that is set; for gauges with labels, whose values rarely change. */
  Gauge gauge(String name, String help, String... labels) {
    return Gauge.builder()
        .name(name)
        .help(help)
        .labelNames(labels)
        .withoutExemplars()
        .register(registry);
  }

  /** A gauge whose value is read when metrics are requested. */
  void gaugeOf(String name, String help, DoubleSupplier value) {
    GaugeWithCallback.builder()
        .name(name)
        .help(help)
        .callback(target -> target.call(read(name, value)))
        .register(registry);
  }

  /** A gauge whose label values are known only when metrics are requested. */
  void gaugesOf(String name, String help, LabelledValues values, String... labels) {
    GaugeWithCallback.builder()
        .name(name)
        .help(help)
        .labelNames(labels)
        .callback(target -> tell(name, values, target::call))
        .register(registry);
  }

  /** A counter whose label values are known only when metrics are requested. */
  void countersOf(String name, String help, LabelledValues values, String... labels) {
    CounterWithCallback.builder()
        .name(name)
        .help(help)
        .labelNames(labels)
        .callback(target -> tell(name, values, target::call))
        .register(registry);
  }

  /** A counter whose value is read when metrics are requested. */
  void counterOf(String name, String help, DoubleSupplier value) {
    CounterWithCallback.builder()
        .name(name)
        .help(help)
        .callback(target -> target.call(read(name, value)))
        .register(registry);
  }

  /** Buckets {@code start}, {@code start * factor}, ... */
  Histogram exponential(
      String name, String help, double start, double factor, int count, String... labels) {
    return buckets(name, help, bounds(start, factor, count), labels);
  }

  Histogram buckets(String name, String help, double[] bounds, String... labels) {
    return Histogram.builder()
        .name(name)
        .help(help)
        .labelNames(labels)
        .classicOnly()
        .classicUpperBounds(bounds)
        .withoutExemplars()
        .register(registry);
  }

  private static double[] bounds(double start, double factor, int count) {
    double[] bounds = new double[count];
    double bound = start;
    for (int i = 0; i < count; i++) {
      bounds[i] = bound;
      bound *= factor;
    }
    return bounds;
  }

  private static void tell(String name, LabelledValues values, LabelledValues.Target target) {
    try {
      values.tell(target);
    } catch (RuntimeException failure) {
      LOG.warn("cannot read metric, its values are missing in the response name={}", name, failure);
    }
  }

  /** A value that cannot be read must not hide all others. */
  private static double read(String name, DoubleSupplier value) {
    try {
      return value.getAsDouble();
    } catch (RuntimeException failure) {
      LOG.warn("cannot read metric, its value is NaN name={}", name, failure);
      return Double.NaN;
    }
  }
}
