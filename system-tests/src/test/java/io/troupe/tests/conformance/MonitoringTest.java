package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * The files of conf/monitoring use only metrics and label values that a member exports, and each
 * alert has a test and an entry in docs/monitoring.md. promtool runs the rules: {@code PromtoolIT}.
 */
class MonitoringTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path FILES = ROOT.resolve("conf/monitoring");

  /** A member alone without alarms does not export them; docs/metrics.md has them. */
  private static final Set<String> WITH_THEIR_FIRST_EVENT =
      Set.of(
          "etcd_network_active_peers",
          "etcd_network_peer_round_trip_time_seconds",
          "etcd_network_peer_received_bytes_total",
          "etcd_network_peer_sent_bytes_total",
          "etcd_debugging_server_alarms",
          "troupe_peer_backlog_dropped_total");

  /** Added by Prometheus. */
  private static final Set<String> OF_PROMETHEUS = Set.of("up", "job", "instance", "cluster");

  private static MetricsText exported() {
    Http1 http = new Http1(STORE.target());
    http.get("/metrics");
    return MetricsText.of(http.get("/metrics").body());
  }

  private static Object yaml(String name) throws IOException {
    return new Load(LoadSettings.builder().build())
        .loadFromString(Files.readString(FILES.resolve(name)));
  }

  private static Map<?, ?> map(Object value) {
    return (Map<?, ?>) value;
  }

  private static Object field(Object map, String key) {
    Object value = map(map).get(key);
    if (value == null) {
      throw new AssertionError("no " + key + " in " + map);
    }
    return value;
  }

  private static List<?> list(Object map, String key) {
    return (List<?>) field(map, key);
  }

  /** Expressions of the alerts, by the name of the alert. */
  private static Map<String, String> alerts() throws IOException {
    Map<String, String> found = new LinkedHashMap<>();
    for (Object group : list(yaml("rules.yml"), "groups")) {
      for (Object rule : list(group, "rules")) {
        String name = field(rule, "alert").toString();
        assertThat(found.put(name, field(rule, "expr").toString())).as(name).isNull();
        Object annotations = field(rule, "annotations");
        assertThat(field(annotations, "summary").toString()).as(name).endsWith(".");
        assertThat(field(annotations, "runbook")).as(name).isEqualTo("docs/monitoring.md");
        assertThat(field(field(rule, "labels"), "severity")).as(name).isIn("warning", "critical");
      }
    }
    return found;
  }

  private static JsonObject dashboard() throws IOException {
    return JsonParser.parseString(Files.readString(FILES.resolve("dashboard.json")))
        .getAsJsonObject();
  }

  private static List<JsonObject> panels() throws IOException {
    return objects(dashboard().getAsJsonArray("panels"));
  }

  private static List<JsonObject> objects(JsonArray array) {
    return array.asList().stream().map(JsonElement::getAsJsonObject).toList();
  }

  private static String text(JsonObject object, String key) {
    return object.get(key).getAsString();
  }

  private static int number(JsonObject object, String key) {
    return object.get(key).getAsInt();
  }

  /** Expressions of the dashboard, by the title of the panel and the number of the target. */
  private static Map<String, String> queries() throws IOException {
    Map<String, String> found = new LinkedHashMap<>();
    for (JsonObject panel : panels()) {
      if (!text(panel, "type").equals("row")) {
        List<JsonObject> targets = objects(panel.getAsJsonArray("targets"));
        for (JsonObject target : targets) {
          found.put(
              text(panel, "title") + " " + text(target, "refId"),
              text(target, "expr").replace("$__rate_interval", "1h"));
        }
      }
    }
    return found;
  }

  private static Map<String, String> expressions() throws IOException {
    Map<String, String> all = new LinkedHashMap<>(alerts());
    all.putAll(queries());
    return all;
  }

  private static String family(String name) {
    return name.replaceAll("_(bucket|sum|count)$", "");
  }

  @Test
  void expressionsNameExportedMetrics() throws IOException {
    MetricsText exported = exported();
    Map<String, Set<String>> unknown = new TreeMap<>();
    Set<String> later = new TreeSet<>();
    Map<String, String> expressions = expressions();
    assertThat(expressions).hasSizeGreaterThan(70);
    expressions.forEach(
        (place, expression) -> {
          Set<String> names = PromQuery.metrics(expression);
          assertThat(names).as(place).isNotEmpty();
          for (String name : names) {
            if (OF_PROMETHEUS.contains(name) || !exported.series(name).isEmpty()) {
              continue;
            }
            if (WITH_THEIR_FIRST_EVENT.contains(family(name))) {
              later.add(family(name));
            } else {
              unknown.computeIfAbsent(place, p -> new TreeSet<>()).add(name);
            }
          }
        });
    assertThat(unknown).isEmpty();
    assertThat(later).containsExactlyInAnyOrderElementsOf(WITH_THEIR_FIRST_EVENT);
  }

  @Test
  void metricsOfFirstEventsAreDocumented() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/metrics.md"));
    for (String name : WITH_THEIR_FIRST_EVENT) {
      assertThat(page.lines().filter(line -> line.matches("\\| .*\\b" + name + "\\b.* \\|.*")))
          .as(name)
          .singleElement()
          .asString()
          .doesNotContain("absent");
    }
  }

  @Test
  void expressionsUseExportedLabelValues() throws IOException {
    MetricsText exported = exported();
    Set<String> checked = new TreeSet<>();
    expressions()
        .forEach(
            (place, expression) ->
                PromQuery.selectors(expression)
                    .forEach(
                        (metric, labels) -> {
                          Set<Map<String, String>> series = exported.series(metric).keySet();
                          if (series.isEmpty()) {
                            return;
                          }
                          labels.forEach(
                              (label, value) -> {
                                if (!OF_PROMETHEUS.contains(label)) {
                                  checked.add(label);
                                  assertThat(
                                          series.stream()
                                              .map(each -> each.getOrDefault(label, ""))
                                              .filter(each -> value.matcher(each).matches()))
                                      .as("%s: %s %s=%s", place, metric, label, value)
                                      .isNotEmpty();
                                }
                              });
                        }));
    assertThat(checked).contains("grpc_code", "le", "pool", "reason", "success");
  }

  /** Of the alternatives of a regular expression none is a typing error. */
  @Test
  void codesOfFailedCallsExist() throws IOException {
    Set<String> codes = new HashSet<>();
    exported()
        .series("grpc_server_handled_total")
        .keySet()
        .forEach(labels -> codes.add(labels.getOrDefault("grpc_code", "")));
    Pattern list = Pattern.compile("grpc_code=~\"([^\"]+)\"");
    List<String> named = new ArrayList<>();
    for (String expression : expressions().values()) {
      Matcher found = list.matcher(expression);
      while (found.find()) {
        named.addAll(List.of(found.group(1).split("\\|")));
      }
    }
    assertThat(named).hasSizeGreaterThan(10);
    assertThat(codes).containsAll(named);
  }

  @Test
  void everyAlertIsTestedAndExplained() throws IOException {
    Set<String> alerts = alerts().keySet();
    Set<String> fired = new TreeSet<>();
    Set<String> quiet = new TreeSet<>();
    for (Object test : list(yaml("rules.test.yml"), "tests")) {
      if (map(test).containsKey("alert_rule_test")) {
        for (Object each : list(test, "alert_rule_test")) {
          (map(each).containsKey("exp_alerts") ? fired : quiet)
              .add(field(each, "alertname").toString());
        }
      }
    }
    assertThat(fired).containsExactlyInAnyOrderElementsOf(alerts);
    assertThat(quiet).containsExactlyInAnyOrderElementsOf(alerts);
    Matcher row =
        Pattern.compile("(?m)^\\| (`Troupe\\w+`(?:, `Troupe\\w+`)*) \\| .+ \\| .+ \\|$")
            .matcher(Files.readString(ROOT.resolve("docs/monitoring.md")));
    List<String> explained = new ArrayList<>();
    while (row.find()) {
      explained.addAll(List.of(row.group(1).replace("`", "").split(", ")));
    }
    assertThat(explained).containsExactlyInAnyOrderElementsOf(alerts);
  }

  @Test
  void dashboardUsesItsVariables() throws IOException {
    JsonObject dashboard = dashboard();
    assertThat(number(dashboard, "schemaVersion")).isGreaterThanOrEqualTo(36);
    assertThat(text(dashboard, "uid")).hasSizeLessThanOrEqualTo(40);
    List<JsonObject> variables =
        objects(dashboard.getAsJsonObject("templating").getAsJsonArray("list"));
    assertThat(variables)
        .extracting(variable -> text(variable, "name"))
        .containsExactly("datasource", "job", "cluster", "instance");
    assertThat(text(variables.get(0), "type")).isEqualTo("datasource");
    assertThat(text(variables.get(0), "query")).isEqualTo("prometheus");
    for (JsonObject panel : panels()) {
      if (!text(panel, "type").equals("row")) {
        assertThat(text(panel.getAsJsonObject("datasource"), "uid")).isEqualTo("${datasource}");
        for (JsonObject target : objects(panel.getAsJsonArray("targets"))) {
          assertThat(text(target.getAsJsonObject("datasource"), "uid")).isEqualTo("${datasource}");
          assertThat(text(target, "expr"))
              .contains("job=\"$job\", cluster=~\"$cluster\", instance=~\"$instance\"");
        }
      }
    }
  }

  /** Ids are unique, and panels neither overlap nor leave the grid. */
  @Test
  void panelsFillTheGrid() throws IOException {
    Set<Integer> ids = new HashSet<>();
    Map<String, String> cells = new LinkedHashMap<>();
    for (JsonObject panel : panels()) {
      String title = text(panel, "title");
      assertThat(ids.add(number(panel, "id"))).as(title).isTrue();
      JsonObject grid = panel.getAsJsonObject("gridPos");
      assertThat(number(grid, "x") + number(grid, "w")).as(title).isLessThanOrEqualTo(24);
      for (int x = number(grid, "x"); x < number(grid, "x") + number(grid, "w"); x++) {
        for (int y = number(grid, "y"); y < number(grid, "y") + number(grid, "h"); y++) {
          assertThat(cells.put(x + "," + y, title)).as(title).isNull();
        }
      }
      assertThat(text(panel, "type")).isIn("row", "stat", "timeseries");
      if (!text(panel, "type").equals("row")) {
        assertThat(text(panel, "description")).as(title).endsWith(".");
      }
    }
    assertThat(ids).hasSizeGreaterThan(40);
  }
}
