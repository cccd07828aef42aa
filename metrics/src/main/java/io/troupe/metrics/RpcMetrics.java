package io.troupe.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Metrics of client calls. Thread-safe; no method that a call uses blocks. */
public final class RpcMetrics {
  /** Default buckets of Prometheus clients. */
  private static final double[] DEFAULT_BUCKETS = {
    .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10
  };

  /**
   * Method to label of etcd_server_request_duration_seconds (ME4), except for the service Auth.
   * Transactions are labelled after they are parsed.
   */
  private static final Map<String, String> REQUEST_TYPES =
      Map.of(
          "/etcdserverpb.KV/Range", "Range",
          "/etcdserverpb.KV/Put", "Put",
          "/etcdserverpb.KV/DeleteRange", "DeleteRange",
          "/etcdserverpb.KV/Compact", "Compaction",
          "/etcdserverpb.Lease/LeaseGrant", "LeaseGrant",
          "/etcdserverpb.Lease/LeaseRevoke", "LeaseRevoke",
          "/etcdserverpb.Maintenance/Alarm", "Alarm");

  /** Clients choose the text: above this number of different versions all others share a series. */
  private static final int MAX_VERSIONS = 32;

  private static final String[] METHOD_LABELS = {"grpc_type", "grpc_service", "grpc_method"};

  private final Counter started;
  private final Counter messagesIn;
  private final Counter messagesOut;
  private final Counter handled;
  private final @Nullable Histogram handling;
  private final Histogram requests;
  private final DistributionDataPoint[] transactions = new DistributionDataPoint[4];
  private final Histogram ranges;
  private final Counter clientRequests;
  private final Counter streamFailures;
  private final LongAdder bytesIn = new LongAdder();
  private final LongAdder bytesOut = new LongAdder();
  private final LongAdder renewed = new LongAdder();
  private final Map<String, CounterDataPoint> unaryVersions = new ConcurrentHashMap<>();
  private final Map<String, CounterDataPoint> streamVersions = new ConcurrentHashMap<>();

  RpcMetrics(Families families, boolean extensive) {
    started = families.counter("grpc_server_started_total", "Started calls.", METHOD_LABELS);
    messagesIn =
        families.counter(
            "grpc_server_msg_received_total", "Messages received from clients.", METHOD_LABELS);
    messagesOut =
        families.counter("grpc_server_msg_sent_total", "Messages sent to clients.", METHOD_LABELS);
    handled =
        families.counter(
            "grpc_server_handled_total",
            "Completed calls, by status.",
            "grpc_type",
            "grpc_service",
            "grpc_method",
            "grpc_code");
    handling =
        extensive
            ? families.buckets(
                "grpc_server_handling_seconds",
                "Duration of a call.",
                DEFAULT_BUCKETS,
                METHOD_LABELS)
            : null;
    requests =
        families.exponential(
            "etcd_server_request_duration_seconds",
            "Duration of a request, by kind.",
            0.001,
            2,
            14,
            "type",
            "success");
    for (boolean success : new boolean[] {false, true}) {
      String label = Boolean.toString(success);
      transactions[index(false, success)] = requests.labelValues("Txn", label);
      transactions[index(true, success)] = requests.labelValues("ReadonlyTxn", label);
    }
    ranges =
        families.exponential(
            "etcd_server_range_duration_seconds", "Duration of a range.", 0.0001, 2, 20, "success");
    clientRequests =
        families.counter(
            "etcd_server_client_requests_total",
            "Requests, by the API version that the client sent.",
            "type",
            "client_api_version");
    streamFailures =
        families.counter(
            "etcd_network_server_stream_failures_total", "Failed streams.", "Type", "API");
    families.counterOf(
        "etcd_network_client_grpc_received_bytes_total",
        "Bytes of messages received from clients.",
        bytesIn::sum);
    families.counterOf(
        "etcd_network_client_grpc_sent_bytes_total",
        "Bytes of messages sent to clients.",
        bytesOut::sum);
    families.counterOf(
        "etcd_debugging_lease_renewed_total", "Leases renewed by this member.", renewed::sum);
  }

  /**
   * Creates the meter of a method.
   *
   * @param type unary, client_stream, server_stream or bidi_stream
   * @param codes labels of the status codes, by gRPC's numbers
   */
  public MethodMeter method(String type, String service, String method, List<String> codes) {
    return new MethodMeter(type, service, method, codes);
  }

  /**
   * A transaction finished.
   *
   * @param readOnly true if it was served like a read (X11)
   */
  public void transaction(boolean readOnly, boolean success, long nanos) {
    transactions[index(readOnly, success)].observe(Seconds.of(nanos));
  }

  private static int index(boolean readOnly, boolean success) {
    return (readOnly ? 2 : 0) + (success ? 1 : 0);
  }

  private static @Nullable String requestType(String service, String method) {
    if (service.equals("etcdserverpb.Auth")) {
      // AuthEnable and Authenticate, but UserAdd and RoleAdd.
      return method.startsWith("Auth") ? method : "Auth" + method;
    }
    return REQUEST_TYPES.get("/" + service + "/" + method);
  }

  /** A lease was renewed. */
  public void leaseRenewed() {
    renewed.increment();
  }

  /**
   * A request arrived that the interceptors accepted so far.
   *
   * @param version API version that the client sent; empty if it sent none
   */
  public void clientRequest(boolean stream, String version) {
    Map<String, CounterDataPoint> known = stream ? streamVersions : unaryVersions;
    CounterDataPoint series = known.get(version);
    if (series == null) {
      String label = version.isEmpty() ? "unknown" : version;
      String own = known.size() < MAX_VERSIONS ? label : "other";
      series = clientRequests.labelValues(stream ? "stream" : "unary", own);
      if (own.equals(label)) {
        known.put(version, series);
      }
    }
    series.inc();
  }

  /** Counts one method. Thread-safe. */
  public final class MethodMeter {
    private final CounterDataPoint begun;
    private final CounterDataPoint in;
    private final CounterDataPoint out;
    private final String[] labels;
    private final List<String> codes;

    /**
     * By code; null before the first call with that code, or before {@link #showAll}: most codes
     * never occur.
     */
    private final AtomicReferenceArray<CounterDataPoint> ended;

    private final @Nullable DistributionDataPoint time;
    private final @Nullable DistributionDataPoint done;
    private final @Nullable DistributionDataPoint refused;
    private final @Nullable DistributionDataPoint rangeDone;
    private final @Nullable DistributionDataPoint rangeRefused;
    private final @Nullable CounterDataPoint receiveFailed;

    private MethodMeter(String type, String service, String method, List<String> codes) {
      this.labels = new String[] {type, service, method};
      this.codes = codes;
      this.ended = new AtomicReferenceArray<>(codes.size());
      begun = started.labelValues(labels);
      in = messagesIn.labelValues(labels);
      out = messagesOut.labelValues(labels);
      time = handling == null ? null : handling.labelValues(labels);
      String request = requestType(service, method);
      done = request == null ? null : requests.labelValues(request, "true");
      refused = request == null ? null : requests.labelValues(request, "false");
      boolean range = method.equals("Range");
      rangeDone = range ? ranges.labelValues("true") : null;
      rangeRefused = range ? ranges.labelValues("false") : null;
      receiveFailed =
          switch (method) {
            case "Watch" ->
                service.equals("etcdserverpb.Watch")
                    ? streamFailures.labelValues("receive", "watch")
                    : null;
            case "LeaseKeepAlive" -> streamFailures.labelValues("receive", "lease-keepalive");
            default -> null;
          };
    }

    /** Shows zeros for the codes that have not occurred. */
    public void showAll() {
      for (int code = 0; code < codes.size(); code++) {
        ended(code);
      }
    }

    private CounterDataPoint ended(int code) {
      CounterDataPoint series = ended.get(code);
      if (series == null) {
        // The registry returns the same series for equal labels.
        series = handled.labelValues(labels[0], labels[1], labels[2], codes.get(code));
        ended.set(code, series);
      }
      return series;
    }

    /** A call started. */
    public void started() {
      begun.inc();
    }

    /**
     * A call was rejected before it started: it counts as a call but not as a request with a
     * duration.
     *
     * @param code gRPC's number, 0..16
     */
    public void refused(int code) {
      begun.inc();
      ended(code).inc();
      observe(time, 0);
    }

    /** A message of the client arrived. */
    public void received(long bytes) {
      in.inc();
      bytesIn.add(bytes);
    }

    /** Messages were sent to the client. */
    public void sent(long messages, long bytes) {
      out.inc(messages);
      bytesOut.add(bytes);
    }

    /**
     * A call completed.
     *
     * @param code gRPC's number, 0..16
     */
    public void ended(int code, long nanos) {
      int known = code >= 0 && code < codes.size() ? code : 2;
      ended(known).inc();
      observe(time, nanos);
      observe(known == 0 ? done : refused, nanos);
      observe(known == 0 ? rangeDone : rangeRefused, nanos);
      if (known != 0 && receiveFailed != null) {
        receiveFailed.inc();
      }
    }

    private static void observe(@Nullable DistributionDataPoint series, long nanos) {
      if (series != null) {
        series.observe(Seconds.of(nanos));
      }
    }
  }
}
