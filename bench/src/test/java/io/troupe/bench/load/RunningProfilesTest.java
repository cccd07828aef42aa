package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.Endpoint;
import io.troupe.bench.client.EventLoops;
import io.troupe.bench.report.Cell;
import io.troupe.bench.report.ScalePoint;
import io.troupe.bench.server.ProcessUsage;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.testkit.TroupeServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Profiles on a server: they check its responses themselves, and must find no error. */
@Tag("full")
class RunningProfilesTest {
  private static final int KEYS = 1000;
  private static final int HISTORY = 3000;
  private static final int LEASES = 200;

  private static TroupeServer server;
  private static EventLoops loops;

  @BeforeAll
  static void start() {
    server = TroupeServer.builder().start();
    loops = new EventLoops(1);
  }

  @AfterAll
  static void stop() {
    loops.close();
    server.close();
  }

  private static Target target(Duration compactEvery) {
    return target(server, compactEvery);
  }

  private static Target target(TroupeServer server, Duration compactEvery) {
    LoadSettings settings =
        new LoadSettings(
            List.of(4),
            List.of(1),
            1,
            1,
            4,
            KEYS,
            256,
            Duration.ofMillis(200),
            Duration.ofSeconds(2),
            100,
            HISTORY,
            new OpenSizes(50, 20, 300, LEASES),
            compactEvery,
            Duration.ZERO,
            1);
    return new Target(
        loops,
        List.of(Endpoint.parse(server.endpoint())),
        new Meter(() -> ProcessUsage.UNKNOWN),
        new Keyspace(KEYS, 256, 1),
        settings);
  }

  private static Map<String, Cell> run(String profile, Duration compactEvery) {
    List<Cell> cells = new ArrayList<>();
    Profiles.run(profile, target(compactEvery), cells::add);
    assertThat(cells).allSatisfy(cell -> assertThat(cell.errors()).as(cell.load()).isZero());
    return cells.stream().collect(Collectors.toMap(Cell::load, Function.identity()));
  }

  private static Cell cell(Map<String, Cell> cells, String load) {
    return Objects.requireNonNull(cells.get(load), load);
  }

  @Test
  void kubernetesRequestsSucceedBesideCompactions() {
    Map<String, Cell> cells = run("kubernetes", Duration.ofMillis(700));
    assertThat(cells)
        .containsKeys(
            "4 clients", "4 clients, get", "4 clients, update-lease", "4 clients, create-event");
    long kinds =
        cells.entrySet().stream()
            .filter(entry -> entry.getKey().contains(","))
            .filter(entry -> !entry.getKey().endsWith("events"))
            .mapToLong(entry -> entry.getValue().count())
            .sum();
    assertThat(cell(cells, "4 clients").count()).isPositive().isEqualTo(kinds);
    assertThat(cell(cells, "4 clients, events").count()).isPositive();
    assertThat(cell(cells, "4 clients, events").latency().p99()).isPositive();

    // The second load finds the objects of the first, and removes what its clients left.
    assertThat(cell(run("kubernetes", Duration.ZERO), "4 clients").count()).isPositive();
    KubernetesObjects objects = new KubernetesObjects(KEYS, 1);
    try (Connections connection = target(Duration.ZERO).connect(1)) {
      for (KubernetesResource resource : KubernetesResource.values()) {
        if (objects.count(resource) > 0 && resource != KubernetesResource.PODS) {
          RangeRequest count =
              RangeRequest.newBuilder()
                  .setKey(KubernetesObjects.prefix(resource))
                  .setRangeEnd(Calls.afterPrefix(KubernetesObjects.prefix(resource)))
                  .setCountOnly(true)
                  .build();
          assertThat(Calls.range(connection, count).count())
              .as(resource.path())
              .isEqualTo(objects.count(resource));
        }
      }
    }
  }

  @Test
  void longWorkIsMeasuredBesidePuts() {
    Profiles.fill(target(Duration.ZERO));
    for (String profile : List.of("snapshot-save", "hash", "history")) {
      Map<String, Cell> cells = run(profile, Duration.ZERO);
      assertThat(cells).containsKeys("before", "during", "after");
      // 100 puts per second for 2 s; the server may be slow at the end of a phase.
      assertThat(cell(cells, "before").count()).isBetween(150L, 250L);
      Cell work =
          cells.values().stream()
              .filter(cell -> cell.load().startsWith("the work"))
              .findFirst()
              .orElseThrow();
      assertThat(work.opsPerSecond()).isPositive();
      assertThat(work.latency().max()).isPositive();
      if (profile.equals("history")) {
        assertThat(work.count() % HISTORY).isZero();
      }
    }
  }

  @Test
  void expiringLeasesAreMeasuredBesidePuts() {
    Profiles.fill(target(Duration.ZERO));
    // The second wave uses the IDs of the first again, so no lease of it is left.
    for (int wave = 0; wave < 2; wave++) {
      Map<String, Cell> cells = run("lease-expiry", Duration.ZERO);
      assertThat(cells)
          .containsOnlyKeys(
              "before", "during", "after", "renewal of all leases", "the work, leases");
      assertThat(cell(cells, "before").count()).isBetween(150L, 250L);
      Cell work = cell(cells, "the work, leases");
      assertThat(work.count()).isEqualTo(LEASES);
      assertThat(work.opsPerSecond()).isPositive();
    }
    RangeRequest keys =
        RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("leased/"))
            .setRangeEnd(ByteString.copyFromUtf8("leased0"))
            .setCountOnly(true)
            .build();
    try (Connections connection = target(Duration.ZERO).connect(1)) {
      assertThat(Calls.range(connection, keys).count()).isZero();
    }
  }

  @Test
  void memoryOfIdleWatchersAndLeasesIsMeasured() {
    AtomicLong rss = new AtomicLong(1 << 20);
    // Each sample is 60,000 bytes above the one before.
    Meter meter = new Meter(() -> new ProcessUsage(0, rss.addAndGet(60_000), rss.get()));
    Target known = target(Duration.ZERO);
    Target metered =
        new Target(
            known.loops(),
            known.endpoints(),
            meter,
            known.keyspace(),
            known.settings().window(4, Duration.ofMillis(300)));
    List<Cell> cells = new ArrayList<>();
    Profiles.run("idle-memory", metered, cells::add);
    assertThat(cells)
        .extracting(Cell::load)
        .containsExactly(
            "50 watchers, bytes each", "20 watch streams, bytes each", "300 leases, bytes each");
    assertThat(cells)
        .extracting(Cell::opsPerSecond)
        .containsExactly(60_000.0 / 50, 60_000.0 / 20, 60_000.0 / 300);
    assertThat(cells).allSatisfy(cell -> assertThat(cell.latency().max()).isPositive());
    // The leases are revoked, so they can be granted again.
    Profiles.run("idle-memory", metered, cells::add);
    assertThat(cells).hasSize(6);
  }

  @Test
  void scaleMeasuresEveryRequestAtEverySize() {
    Target target = target(Duration.ZERO);
    ScaleMeasurement scale = new ScaleMeasurement(target, false);
    long added = ScaleMeasurement.addedKeys(target.settings());
    for (int size : new int[] {10_000, 20_050}) {
      assertThat(scale.fill(size)).isPositive();
      scale.requests();
      // However fast the server is, the next size has still keys to fill.
      assertThat((long) scale.keys()).isGreaterThan(size).isLessThanOrEqualTo(size + added);
      scale.writeSome();
      scale.verify();
    }
    assertThat(scale.errors()).isZero();
    assertThat(scale.points())
        .hasSize(18)
        .allSatisfy(point -> assertThat(point.value()).isPositive());
    assertThat(scale.points().stream().filter(point -> point.size() == 20_050))
        .extracting(ScalePoint::measurement)
        .containsExactly(
            "count, first",
            "put, new key",
            "put, overwrite",
            "range, one key",
            "page of 500",
            "page, keys only",
            "count, repeated",
            "page, old revision",
            "count, old revision");
    assertThatThrownBy(() -> scale.fill(20_050))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a fill to 20050 keys of a server that has " + scale.keys());
  }

  @Test
  void scaleMeasuresServerThatWasFilledBefore() {
    try (TroupeServer own = TroupeServer.builder().start()) {
      Target target = target(own, Duration.ZERO);
      assertThat(new ScaleMeasurement(target, false).fill(30_000)).isPositive();
      ScaleMeasurement scale = new ScaleMeasurement(target, false);
      assertThat(scale.adopt()).isEqualTo(30_000);
      scale.requests();
      assertThat(scale.errors()).isZero();
      assertThat(scale.points())
          .hasSize(9)
          .allSatisfy(
              point -> {
                assertThat(point.size()).isEqualTo(30_000);
                assertThat(point.value()).isPositive();
              });
    }
  }
}
