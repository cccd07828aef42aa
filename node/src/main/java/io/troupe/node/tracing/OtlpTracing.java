package io.troupe.node.tracing;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.troupe.edge.calls.Tracing;
import io.troupe.metrics.WalSyncs;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.server.CallTrace;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends traces of calls to a collector. The queue of unsent spans is bounded: above {@link
 * #MOST_KEPT} new spans are dropped. A separate thread sends them, so a slow or unreachable
 * collector does not delay calls.
 */
public final class OtlpTracing implements Tracing {
  private static final Logger LOG = LoggerFactory.getLogger(OtlpTracing.class);

  /** Maximum number of unsent spans, of about 500 bytes each. */
  static final int MOST_KEPT = 4096;

  /** Maximum time that a span waits for a batch. */
  private static final Duration BATCH = Duration.ofSeconds(1);

  private static final double MILLION = 1_000_000;
  private static final AttributeKey<String> RPC_SYSTEM = AttributeKey.stringKey("rpc.system");
  private static final AttributeKey<String> RPC_SERVICE = AttributeKey.stringKey("rpc.service");
  private static final AttributeKey<String> RPC_METHOD = AttributeKey.stringKey("rpc.method");
  private static final AttributeKey<String> SERVICE_NAME = AttributeKey.stringKey("service.name");
  private static final AttributeKey<String> INSTANCE_ID =
      AttributeKey.stringKey("service.instance.id");

  private final TextMapPropagator propagator = W3CTraceContextPropagator.getInstance();
  private final SpanExporter exporter;
  private final SdkTracerProvider provider;
  private final Tracer tracer;

  private OtlpTracing(TracingSettings settings) {
    this.exporter =
        OtlpGrpcSpanExporter.builder()
            .setEndpoint("http://" + settings.address())
            .setMeterProvider(MeterProvider.noop())
            .build();
    this.provider =
        SdkTracerProvider.builder()
            .setResource(resource(settings))
            .setSampler(Sampler.parentBased(sampler(settings.samplesPerMillion())))
            .addSpanProcessor(
                BatchSpanProcessor.builder(exporter)
                    .setMeterProvider(MeterProvider.noop())
                    .setMaxQueueSize(MOST_KEPT)
                    .setScheduleDelay(BATCH)
                    .build())
            .build();
    this.tracer = provider.get("io.troupe");
  }

  /** Starts the thread, which connects when there are spans to send. */
  public static Tracing start(TracingSettings settings) {
    LibraryLog.install();
    LOG.info(
        "tracing calls address={} service-name={} instance-id={} sampling-rate={}",
        settings.address(),
        settings.serviceName(),
        settings.instanceId(),
        settings.samplesPerMillion());
    return new OtlpTracing(settings);
  }

  private static Sampler sampler(int samplesPerMillion) {
    return samplesPerMillion == 0
        ? Sampler.alwaysOff()
        : Sampler.traceIdRatioBased(samplesPerMillion / MILLION);
  }

  /** Returns the identity of this process in traces, without a name lookup. */
  private static Resource resource(TracingSettings settings) {
    AttributesBuilder own = Attributes.builder().put(SERVICE_NAME, settings.serviceName());
    if (!settings.instanceId().isEmpty()) {
      own.put(INSTANCE_ID, settings.instanceId());
    }
    return Resource.getDefault().merge(Resource.create(own.build()));
  }

  @Override
  public CallTrace begin(String path, Iterable<HttpHeader> metadata) {
    String name = path.substring(1);
    Clocks clocks = Clocks.now();
    Context parent = propagator.extract(Context.root(), metadata, HeaderGetter.INSTANCE);
    Span span =
        tracer
            .spanBuilder(name)
            .setParent(parent)
            .setSpanKind(SpanKind.SERVER)
            .setStartTimestamp(clocks.epochNanos(), TimeUnit.NANOSECONDS)
            .startSpan();
    if (!span.isRecording()) {
      return CallTrace.NONE;
    }
    int slash = name.lastIndexOf('/');
    span.setAttribute(RPC_SYSTEM, "grpc");
    span.setAttribute(RPC_SERVICE, name.substring(0, slash));
    span.setAttribute(RPC_METHOD, name.substring(slash + 1));
    return new RecordedCall(tracer, span, parent.with(span), clocks);
  }

  @Override
  public ForwardedTraces forwarded(WalSyncs syncs, Executor runs) {
    return new LeaderSpans(tracer, syncs, runs);
  }

  @Override
  public CompletionStage<Void> close(Duration atMost) {
    CompletableFuture<Void> sent = new CompletableFuture<>();
    provider.shutdown().whenComplete(() -> sent.complete(null));
    // Abandons what is in flight after this time: without it the exporter would retry for a while.
    return sent.completeOnTimeout(null, atMost.toMillis(), TimeUnit.MILLISECONDS)
        .thenRun(exporter::shutdown);
  }
}
