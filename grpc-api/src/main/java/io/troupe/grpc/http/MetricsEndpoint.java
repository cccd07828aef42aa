package io.troupe.grpc.http;

import io.troupe.metrics.MemberMetrics;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;

/** /metrics in the text format, or in OpenMetrics for those who accept it. */
final class MetricsEndpoint {
  private static final ContentType TEXT = ContentTypes.parse(MemberMetrics.TEXT);
  private static final ContentType OPEN = ContentTypes.parse(MemberMetrics.OPEN_METRICS);

  private final MemberMetrics metrics;
  private final Executor executor;
  private final LongAdder running = new LongAdder();
  private final LongAdder answered = new LongAdder();

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
        target -> target.value((double) answered.sum(), "200"),
        "code");
  }

  CompletionStage<HttpResponse> handle(HttpRequest request) {
    boolean open =
        request
            .getHeader("accept")
            .map(HttpHeader::value)
            .filter(accept -> accept.contains("application/openmetrics-text"))
            .isPresent();
    running.increment();
    return CompletableFuture.supplyAsync(
            () ->
                HttpResponse.create()
                    .withEntity(
                        open
                            ? HttpEntities.create(OPEN, metrics.openMetrics())
                            : HttpEntities.create(TEXT, metrics.text())),
            executor)
        .whenComplete(
            (response, failure) -> {
              running.decrement();
              answered.increment();
            });
  }
}
