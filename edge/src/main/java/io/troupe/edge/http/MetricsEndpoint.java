package io.troupe.edge.http;

import io.troupe.metrics.MemberMetrics;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import org.apache.pekko.http.javadsl.coding.Coder;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;

/**
 * /metrics in the text format, like etcd. In OpenMetrics some counters have other names, so only
 * clients that accept nothing else receive it.
 */
public final class MetricsEndpoint {
  private static final ContentType TEXT = ContentTypes.parse(MemberMetrics.TEXT);
  private static final ContentType OPEN = ContentTypes.parse(MemberMetrics.OPEN_METRICS);

  private final MemberMetrics metrics;
  private final Executor executor;
  private final LongAdder running = new LongAdder();
  private final LongAdder succeeded = new LongAdder();
  private final LongAdder failed = new LongAdder();

  /**
   * Creates the endpoint of a member; all its ports share it.
   *
   * @param executor reads the metrics, some of them from files of the process
   */
  public MetricsEndpoint(MemberMetrics metrics, Executor executor) {
    this.metrics = metrics;
    this.executor = executor;
    metrics.gauge(
        "promhttp_metric_handler_requests_in_flight",
        "Metrics requests in progress.",
        running::sum);
    metrics.counters(
        "promhttp_metric_handler_requests_total",
        "Completed metrics requests.",
        target -> {
          target.value((double) succeeded.sum(), "200");
          target.value((double) failed.sum(), "500");
          target.value(0, "503");
        },
        "code");
  }

  CompletionStage<HttpResponse> handle(HttpRequest request) {
    String accept = value(request, "accept");
    boolean open =
        accept.contains("application/openmetrics-text")
            && !accept.contains("text/plain")
            && !accept.contains("*");
    Coder coder = value(request, "accept-encoding").contains("gzip") ? Coder.Gzip : Coder.NoCoding;
    running.increment();
    return CompletableFuture.supplyAsync(
            () ->
                coder.encodeMessage(
                    HttpResponse.create()
                        .withEntity(
                            open
                                ? HttpEntities.create(OPEN, metrics.openMetrics())
                                : HttpEntities.create(TEXT, metrics.text()))),
            executor)
        .whenComplete(
            (response, failure) -> {
              running.decrement();
              (failure == null ? succeeded : failed).increment();
            });
  }

  private static String value(HttpRequest request, String header) {
    return request.getHeader(header).map(HttpHeader::value).orElse("");
  }
}
