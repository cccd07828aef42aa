package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.node.tracing.TestCollector;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tracing in a separate process, from node.jar. */
@Tag("full")
@HeapIndependent
class TracingIT {
  private static final String JDKS = "io.troupe.tests.process.TestJdks#all";
  private static final Pattern TIME = Pattern.compile("\"ts\":\"([^\"]+)\"");

  @TempDir Path directory = Path.of("");

  private static void put(int port) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v3/kv/put"))
                    .POST(BodyPublishers.ofString("{\"key\":\"Zm9v\",\"value\":\"YmFy\"}"))
                    .timeout(Duration.ofSeconds(20))
                    .build(),
                BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  private static boolean isPut(TestCollector.Span span) {
    return span.name().equals("etcdserverpb.KV/Put");
  }

  private NodeProcess etcd(Jdk jdk, int port, String... flags) {
    List<String> args = new ArrayList<>();
    args.add("etcd");
    args.add("--data-dir=" + directory.resolve("data"));
    args.add("--listen-client-urls=http://127.0.0.1:" + port);
    args.add("--advertise-client-urls=http://127.0.0.1:" + port);
    args.addAll(List.of(flags));
    return NodeProcess.jar(jdk, directory, List.of()).args(args.toArray(String[]::new)).start();
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void tracingFlagsExportTracesAndShutdownLosesNone(Jdk jdk) throws Exception {
    int port = FreePort.next();
    try (TestCollector collector = TestCollector.start();
        NodeProcess node =
            etcd(
                jdk,
                port,
                "--enable-distributed-tracing",
                "--distributed-tracing-address=" + collector.address(),
                "--distributed-tracing-service-name=shop",
                "--distributed-tracing-instance-id=m1",
                "--distributed-tracing-sampling-rate=1000000")) {
      node.awaitReady();
      // The connection to the collector is open then: the shutdown has less than a second for the
      // remaining spans.
      put(port);
      String first = collector.await(TracingIT::isPut).spanId();
      put(port);
      assertThat(node.stop()).as(node::toString).isEqualTo(143);
      TestCollector.Span call =
          collector.await(span -> isPut(span) && !span.spanId().equals(first));
      assertThat(call.resource())
          .containsEntry("service.name", "shop")
          .containsEntry("service.instance.id", "m1");
      assertThat(collector.below(call))
          .extracting(TestCollector.Span::name)
          .containsExactlyInAnyOrder("queue", "propose", "fsync", "quorum", "apply", "answer");
      assertThat(node.err()).doesNotContain("\"level\":\"error\"", "traces cannot be exported");
    }
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void memberServesAndStopsWithoutCollector(Jdk jdk) throws Exception {
    int port = FreePort.next();
    try (NodeProcess node =
        etcd(
            jdk,
            port,
            "--enable-distributed-tracing",
            "--distributed-tracing-address=127.0.0.1:" + FreePort.next(),
            "--distributed-tracing-sampling-rate=1000000")) {
      node.awaitReady();
      put(port);
      node.awaitLine("traces cannot be exported");
      put(port);
      assertThat(node.stop()).as(node::toString).isEqualTo(143);
      assertThat(stopTime(node)).isLessThan(Duration.ofSeconds(2));
      assertThat(node.err().lines().filter(line -> line.contains("traces cannot be exported")))
          .hasSize(1);
      // Warnings of the JVM itself cannot be changed.
      assertThat(node.err().lines().filter(line -> !line.startsWith("WARNING: ")))
          .allMatch(line -> line.startsWith("{"));
    }
  }

  /** Between its two log lines; see {@link MemberProcessIT}. */
  private static Duration stopTime(NodeProcess node) {
    return Duration.between(timeOf(node, "stopping"), timeOf(node, "stopped"));
  }

  private static java.time.OffsetDateTime timeOf(NodeProcess node, String word) {
    String line =
        node.err()
            .lines()
            .filter(text -> text.contains("\"msg\":\"" + word + "\""))
            .findFirst()
            .orElseThrow();
    Matcher time = TIME.matcher(line);
    assertThat(time.find()).as(line).isTrue();
    return java.time.OffsetDateTime.parse(
        time.group(1).replaceAll("([+-]\\d\\d)(\\d\\d)$", "$1:$2"));
  }

  @Test
  void tracingClassesAreNotLoadedByDefault() throws Exception {
    Path loaded = directory.resolve("classes.txt");
    NodeProcess.Builder member =
        NodeProcess.member(
            TestJdks.running(), directory, "-Xlog:class+load:file=" + loaded + ":none");
    try (NodeProcess node = member.start().awaitReady()) {
      put(node.port());
      assertThat(node.stop()).isEqualTo(143);
    }
    try (Stream<String> classes = Files.lines(loaded)) {
      List<String> all = classes.toList();
      assertThat(all).anyMatch(line -> line.startsWith("io.troupe.edge.calls.Tracing "));
      assertThat(all)
          .noneMatch(
              line ->
                  line.startsWith("io.opentelemetry.")
                      || line.startsWith("okhttp3.")
                      || line.startsWith("okio.")
                      || line.startsWith("kotlin.")
                      || line.startsWith("io.troupe.node.tracing.OtlpTracing "));
    }
  }
}
