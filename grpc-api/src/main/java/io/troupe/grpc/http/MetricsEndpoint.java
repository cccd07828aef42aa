package io.troupe.grpc.http;

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
 * /metrics in the text format, as etcd gives it to whoever would take it: in OpenMetrics some
 * counters have other names. That is for those who accept nothing else.
 */
final class MetricsEndpoint {
  private static final ContentType TEXT = ContentTypes.parse(MemberMetrics.TEXT);
  private static final ContentType OPEN = ContentTypes.parse(MemberMetrics.OPEN_METRICS);

  private final MemberMetrics metrics;
  private final Executor executor;
  private final LongAdder running = new LongAdder();
  private final LongAdder answered = new LongAdder();
  private final LongAdder failed = new LongAdder();

  /**
   * The endpoint of a member; one for all its ports.
   *
   * @param executor where figures are read: some look into files of the process
   */
  MetricsEndpoint(MemberMetrics metrics, Executor executor) {
    this.metrics = metrics;
    this.executor = executor;
    metrics.gauge(
        "promhttp_metric_handler_requests_in_flight",
        "Requests for metrics that are being answered.",
        running::sum);
    metrics.counters(
        "promhttp_metric_handler_requests_total",
        "Requests for metrics that were answered.",
        target -> {
          target.value((double) answered.sum(), "200");
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
              (failure == null ? answered : failed).increment();
            });
  }

  private static String value(HttpRequest request, String header) {
    return request.getHeader(header).map(HttpHeader::value).orElse("");
  }
}
