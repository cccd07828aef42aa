package io.troupe.node.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.edge.calls.Tracing;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.DiskMetrics;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.TraceContext;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.server.CallTrace;
import io.troupe.testing.FreePort;
import io.troupe.testing.LoggedLines;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.junit.jupiter.api.Test;

/** Traced calls without a member. */
class OtlpTracingTest {
  private static final String PUT = "/etcdserverpb.KV/Put";
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String CALLER = "b7ad6b7169203331";
  private static final List<HttpHeader> NOTHING = List.of();
  private static final int ALL = 1_000_000;

  private static List<HttpHeader> from(boolean sampled) {
    return List.of(
        RawHeader.create("user-agent", "test"),
        RawHeader.create("traceparent", "00-" + TRACE + "-" + CALLER + (sampled ? "-01" : "-00")),
        RawHeader.create("tracestate", "vendor=1"));
  }

  private static Tracing tracing(String address, int samplesPerMillion) {
    return OtlpTracing.start(new TracingSettings(address, "shop", "m1", samplesPerMillion));
  }

  /** The duration. */
  private static Duration close(Tracing tracing, Duration atMost) {
    long startNanos = System.nanoTime();
    CompletableFuture<Void> closed = tracing.close(atMost).toCompletableFuture();
    closed.join();
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }

  @Test
  void callIsSpanWithChildSteps() {
    try (TestCollector collector = TestCollector.start()) {
      Tracing tracing = tracing(collector.address(), ALL);
      CallTrace call = tracing.begin(PUT, NOTHING);
      assertThat(call.isRecorded()).isTrue();
      long now = System.nanoTime();
      call.step("queue", now, now + 2000);
      call.step("apply", now + 3000, now + 5000);
      call.ended(0);
      close(tracing, Duration.ofSeconds(20));

      TestCollector.Span span = collector.await(one -> one.name().equals("etcdserverpb.KV/Put"));
      assertThat(span.parentId()).isEmpty();
      assertThat(span.kind()).isEqualTo(2);
      assertThat(span.status()).isZero();
      assertThat(span.attributes())
          .containsEntry("rpc.system", "grpc")
          .containsEntry("rpc.service", "etcdserverpb.KV")
          .containsEntry("rpc.method", "Put")
          .containsEntry("rpc.grpc.status_code", "0");
      assertThat(span.resource())
          .containsEntry("service.name", "shop")
          .containsEntry("service.instance.id", "m1");
      List<TestCollector.Span> steps = collector.below(span);
      assertThat(steps).extracting(TestCollector.Span::name).containsExactly("queue", "apply");
      assertThat(steps.get(0).endNanos() - steps.get(0).startNanos()).isEqualTo(2000);
      assertThat(steps.get(1).startNanos() - steps.get(0).endNanos()).isEqualTo(1000);
      assertThat(steps.get(0).startNanos()).isGreaterThanOrEqualTo(span.startNanos());
      assertThat(steps.get(0).kind()).isEqualTo(1);
      assertThat(collector.spans()).hasSize(3);
    }
  }

  @Test
  void forwardedProposalIsChildSpanOfCall() {
    try (TestCollector collector = TestCollector.start()) {
      Tracing follower = tracing(collector.address(), 0);
      CallTrace call = follower.begin(PUT, from(true));
      TraceContext place = Objects.requireNonNull(call.context());
      assertThat(place.traceHigh()).isEqualTo(0x0af7651916cd43ddL);
      assertThat(place.traceLow()).isEqualTo(0x8448eb211c80319cL);
      assertThat(place.flags() & 1).isEqualTo(1);

      Tracing leader = tracing(collector.address(), 0);
      DiskMetrics disk = new MemberMetrics().disk();
      long t = System.nanoTime();
      disk.walSynced(t + 1000, t + 3000, 2, 9);
      ForwardedTraces traces = leader.forwarded(disk.walSyncs(), Runnable::run);
      assertThat(traces.isWanted()).isTrue();
      traces.applied(new ForwardedTraces.Forwarded(place, 9, t, t + 4000));
      // The parent of an unrecorded trace, in case a member sends one.
      traces.applied(
          new ForwardedTraces.Forwarded(new TraceContext(1, 1, place.span(), 0), 9, t, t + 4000));
      call.ended(0);
      close(follower, Duration.ofSeconds(20));
      close(leader, Duration.ofSeconds(20));

      TestCollector.Span there = collector.await(one -> one.name().equals("etcdserverpb.KV/Put"));
      TestCollector.Span part = collector.await(one -> one.name().equals(LeaderSpans.NAME));
      assertThat(part.traceId()).isEqualTo(TRACE);
      assertThat(part.parentId()).isEqualTo(there.spanId());
      assertThat(part.kind()).isEqualTo(2);
      assertThat(part.endNanos() - part.startNanos()).isEqualTo(4000);
      List<TestCollector.Span> steps = collector.below(part);
      assertThat(steps)
          .extracting(step -> step.name() + " " + (step.startNanos() - part.startNanos()))
          .containsExactly("propose 0", "quorum 0", "fsync 1000");
      assertThat(steps)
          .extracting(step -> step.endNanos() - part.startNanos())
          .containsExactly(1000L, 4000L, 3000L);
      assertThat(collector.spans()).hasSize(5);
    }
  }

  @Test
  void rateZeroFollowsParentSampling_F7() {
    try (TestCollector collector = TestCollector.start()) {
      Tracing tracing = tracing(collector.address(), 0);
      assertThat(tracing.begin(PUT, NOTHING)).isSameAs(CallTrace.NONE);
      assertThat(tracing.begin(PUT, from(false))).isSameAs(CallTrace.NONE);
      assertThat(tracing.begin(PUT, List.of(RawHeader.create("traceparent", "nonsense"))))
          .isSameAs(CallTrace.NONE);
      for (int i = 0; i < 100; i++) {
        tracing.begin(PUT, from(true)).ended(0);
      }
      close(tracing, Duration.ofSeconds(20));
      assertThat(collector.spans())
          .hasSize(100)
          .allSatisfy(
              span -> {
                assertThat(span.traceId()).isEqualTo(TRACE);
                assertThat(span.parentId()).isEqualTo(CALLER);
              });
    }
  }

  @Test
  void unsampledParentIsNeverTraced() {
    try (TestCollector collector = TestCollector.start()) {
      Tracing tracing = tracing(collector.address(), ALL);
      assertThat(tracing.begin(PUT, from(false))).isSameAs(CallTrace.NONE);
      close(tracing, Duration.ofSeconds(20));
    }
  }

  @Test
  void samplingRateSelectsThatShare() {
    try (TestCollector collector = TestCollector.start()) {
      Tracing tracing = tracing(collector.address(), ALL / 4);
      int recorded = 0;
      for (int i = 0; i < 10_000; i++) {
        recorded += tracing.begin(PUT, NOTHING).isRecorded() ? 1 : 0;
      }
      close(tracing, Duration.ofSeconds(20));
      // Seven standard deviations.
      assertThat(recorded).isBetween(2200, 2800);
    }
  }

  @Test
  void onlyServerFailuresAreErrors() {
    try (TestCollector collector = TestCollector.start()) {
      Tracing tracing = tracing(collector.address(), ALL);
      tracing.begin(PUT, NOTHING).ended(GrpcStatus.INVALID_ARGUMENT);
      tracing.begin(PUT, NOTHING).ended(GrpcStatus.UNAVAILABLE);
      close(tracing, Duration.ofSeconds(20));
      assertThat(collector.spans())
          .extracting(span -> span.attributes().get("rpc.grpc.status_code") + " " + span.status())
          .containsExactlyInAnyOrder("3 0", "14 2");
    }
  }

  @Test
  void missingCollectorDelaysNeitherCallsNorShutdown() {
    Tracing tracing = tracing("127.0.0.1:" + FreePort.next(), ALL);
    long before = System.nanoTime();
    for (int i = 0; i < 10 * OtlpTracing.MOST_KEPT; i++) {
      CallTrace call = tracing.begin(PUT, NOTHING);
      call.step("apply", before, before);
      call.ended(0);
    }
    assertThat(close(tracing, Duration.ofMillis(300))).isLessThan(Duration.ofSeconds(5));
    // Late spans do no harm.
    tracing.begin(PUT, NOTHING).ended(0);
  }

  @Test
  void silentCollectorDoesNotDelayShutdown() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Tracing tracing = tracing("127.0.0.1:" + silent.getLocalPort(), ALL);
      tracing.begin(PUT, NOTHING).ended(0);
      Duration took = close(tracing, Duration.ofMillis(300));
      assertThat(took).isBetween(Duration.ofMillis(250), Duration.ofSeconds(5));
    }
  }

  @Test
  void libraryWarningsAreRateLimited() {
    try (LoggedLines lines = new LoggedLines(LibraryLog.class)) {
      LibraryLog log = new LibraryLog(Duration.ofHours(1));
      for (int i = 0; i < 1000; i++) {
        LogRecord complaint = new LogRecord(Level.SEVERE, "no way to it");
        complaint.setThrown(new IOException("refused"));
        log.publish(complaint);
      }
      // An exporter that an earlier test closed may still log through its own handler.
      assertThat(lines.lines())
          .filteredOn(line -> "no way to it".equals(LoggedLines.pairs(line).get("reason")))
          .singleElement()
          .satisfies(
              line -> {
                assertThat(line.getMessage()).startsWith("traces cannot be exported");
                assertThat(LoggedLines.pairs(line))
                    .hasToString(
                        "{reason=no way to it, cause=java.io.IOException: refused, suppressed=0}");
              });
    }
  }

  @Test
  void disabledTracingUsesNoMemory() {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    List<HttpHeader> metadata = from(true);
    trace(metadata, 20_000);
    long before = threads.getCurrentThreadAllocatedBytes();
    trace(metadata, 100_000);
    // The measurement itself allocates some bytes; a single byte for each call would be more.
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(100_000);
  }

  private static void trace(List<HttpHeader> metadata, int calls) {
    int places = 0;
    for (int i = 0; i < calls; i++) {
      CallTrace call = Tracing.OFF.begin(PUT, metadata);
      places += call.context() == null ? 0 : 1;
      call.step("apply", 1, 2);
      call.ended(0);
    }
    assertThat(places).isZero();
  }
}
