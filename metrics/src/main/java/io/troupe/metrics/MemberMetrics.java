package io.troupe.metrics;

import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmBufferPoolMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmMemoryMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmRuntimeInfoMetric;
import io.prometheus.metrics.instrumentation.jvm.JvmThreadsMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.DoubleSupplier;
import java.util.regex.Pattern;

/**
 * All metrics of one member (section 6). Each part of the member gets the group that it updates;
 * values that can be read when metrics are requested are registered with {@link #gauge}.
 * Thread-safe.
 */
public final class MemberMetrics {
  /** Content type of {@link #text()}. */
  public static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

  /** Content type of {@link #openMetrics()}. */
  public static final String OPEN_METRICS =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

  /** The library appends it to the name of every counter. */
  private static final Pattern SUFFIX = Pattern.compile("_total");

  private final PrometheusRegistry registry = new PrometheusRegistry();

  /** Counters whose names have no suffix in the text format (docs/decisions/0080). */
  private final PrometheusRegistry bare = new PrometheusRegistry();

  private final Families families = new Families(registry);
  private final Families bareFamilies = new Families(bare);
  private final DiskMetrics disk = new DiskMetrics(families);
  private final ApplyMetrics apply = new ApplyMetrics(families);
  private final UpkeepMetrics upkeep = new UpkeepMetrics(families);
  private final SnapshotMetrics snapshots = new SnapshotMetrics(families, bareFamilies);
  private final RaftMetrics raft = new RaftMetrics(families, bareFamilies);
  private final PeerMetrics peers = new PeerMetrics(families);
  private final WatchMetrics watch = new WatchMetrics(families);
  private final HealthMetrics health = new HealthMetrics(families, bareFamilies);
  private final RpcMetrics rpc;

  /** Preparations that are postponed to the first request of metrics, to shorten the start. */
  private final Queue<Runnable> beforeFirstLook = new ConcurrentLinkedQueue<>();

  /**
   * Creates the metrics of a member, all at zero.
   *
   * @param extensive true to include the duration of each method's calls
   */
  public MemberMetrics(boolean extensive) {
    this.rpc = new RpcMetrics(families, extensive);
  }

  /** Creates the metrics without extensive ones. */
  public MemberMetrics() {
    this(false);
  }

  /**
   * Runs {@code preparation} once, before metrics are first requested: it adds values that are only
   * read then, or series that are shown with zeros before the first event.
   */
  public void beforeFirstLook(Runnable preparation) {
    beforeFirstLook.add(preparation);
  }

  private synchronized void prepare() {
    for (Runnable next = beforeFirstLook.poll(); next != null; next = beforeFirstLook.poll()) {
      next.run();
    }
  }

  /** Adds the metrics of the process and the JVM. Once for each member. */
  public void addProcess() {
    ProcessMetrics.builder().register(registry);
    JvmMemoryMetrics.builder().register(registry);
    JvmGarbageCollectorMetrics.builder().register(registry);
    JvmThreadsMetrics.builder().register(registry);
    JvmBufferPoolMetrics.builder().register(registry);
    JvmRuntimeInfoMetric.builder().register(registry);
  }

  public DiskMetrics disk() {
    return disk;
  }

  public ApplyMetrics apply() {
    return apply;
  }

  public UpkeepMetrics upkeep() {
    return upkeep;
  }

  public SnapshotMetrics snapshots() {
    return snapshots;
  }

  public RaftMetrics raft() {
    return raft;
  }

  public PeerMetrics peers() {
    return peers;
  }

  public WatchMetrics watch() {
    return watch;
  }

  public HealthMetrics health() {
    return health;
  }

  public RpcMetrics rpc() {
    return rpc;
  }

  /**
   * Adds a gauge whose value is read when metrics are requested.
   *
   * @param value must be quick; NaN if it throws
   */
  public void gauge(String name, String help, DoubleSupplier value) {
    families.gaugeOf(name, help, value);
  }

  /** Adds a gauge with labels whose values are read when metrics are requested. */
  public void gauges(String name, String help, LabelledValues values, String... labels) {
    families.gaugesOf(name, help, values, labels);
  }

  /** Adds a counter whose value is read when metrics are requested. */
  public void counter(String name, String help, DoubleSupplier value) {
    families.counterOf(name, help, value);
  }

  /** Adds a counter with labels whose values are read when metrics are requested. */
  public void counters(String name, String help, LabelledValues values, String... labels) {
    families.countersOf(name, help, values, labels);
  }

  /** All metrics in Prometheus' text format 0.0.4. */
  public byte[] text() {
    prepare();
    ByteArrayOutputStream out = new ByteArrayOutputStream(64 << 10);
    ByteArrayOutputStream suffixed = new ByteArrayOutputStream();
    try {
      PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();
      writer.write(out, registry.scrape());
      writer.write(suffixed, bare.scrape());
      String plain =
          suffixed
              .toString(StandardCharsets.UTF_8)
              .lines()
              .map(line -> SUFFIX.matcher(line).replaceFirst("") + "\n")
              .reduce("", String::concat);
      out.writeBytes(plain.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("in-memory stream failed", e);
    }
    return out.toByteArray();
  }

  /** All metrics in the OpenMetrics format, where every counter's name has the suffix. */
  public byte[] openMetrics() {
    prepare();
    ByteArrayOutputStream out = new ByteArrayOutputStream(64 << 10);
    MetricSnapshots.Builder all = MetricSnapshots.builder();
    registry.scrape().stream().forEach(all::metricSnapshot);
    bare.scrape().stream().forEach(all::metricSnapshot);
    try {
      OpenMetricsTextFormatWriter.create().write(out, all.build());
    } catch (IOException e) {
      throw new UncheckedIOException("in-memory stream failed", e);
    }
    return out.toByteArray();
  }
}
