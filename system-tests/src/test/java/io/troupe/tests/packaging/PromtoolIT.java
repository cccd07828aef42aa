package io.troupe.tests.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.troupe.tests.crash.Commands;
import io.troupe.tests.process.HeapIndependent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** promtool accepts and runs the files of conf/monitoring; fails if it is not installed. */
@Tag("full")
@HeapIndependent
class PromtoolIT {
  private static final Path FILES = Path.of("..", "conf", "monitoring").toAbsolutePath();

  private final Path temp;

  PromtoolIT(@TempDir Path temp) {
    this.temp = temp;
  }

  @Test
  void exampleConfigurationIsValid() {
    assertThat(
            Commands.run("promtool", "check", "config", FILES.resolve("prometheus.yml").toString()))
        .contains("SUCCESS", "rules found");
  }

  @Test
  void alertsFireAsTheirTestsExpect() {
    assertThat(
            Commands.run("promtool", "test", "rules", FILES.resolve("rules.test.yml").toString()))
        .contains("SUCCESS");
  }

  /** The expressions of the dashboard, as recording rules. */
  @Test
  void expressionsOfTheDashboardAreValid() throws IOException {
    JsonObject dashboard =
        JsonParser.parseString(Files.readString(FILES.resolve("dashboard.json"))).getAsJsonObject();
    StringBuilder rules = new StringBuilder("groups:\n  - name: dashboard\n    rules:\n");
    int number = 0;
    for (JsonElement panel : dashboard.getAsJsonArray("panels")) {
      if (panel.getAsJsonObject().has("targets")) {
        for (JsonElement target : panel.getAsJsonObject().getAsJsonArray("targets")) {
          String expression =
              target.getAsJsonObject().get("expr").getAsString().replace("$__rate_interval", "1h");
          rules.append("      - record: dashboard:").append(number++).append("\n        expr: '");
          rules.append(expression.replace("'", "''")).append("'\n");
        }
      }
    }
    Path file = Files.writeString(temp.resolve("dashboard.yml"), rules);
    assertThat(Commands.run("promtool", "check", "rules", file.toString()))
        .contains("SUCCESS: " + number + " rules found");
    assertThat(number).isGreaterThan(40);
  }
}
