package io.troupe.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.bench.client.Endpoint;
import io.troupe.bench.server.ProcessUsage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScaleCommandTest {
  private static Options parse(String... words) {
    List<String> line = new ArrayList<>(List.of(words));
    line.add(0, "scale");
    return Options.parse(line, BenchSettings.OPTIONS);
  }

  private static List<Integer> sizes(Options options) {
    return ScaleCommand.sizes(options, BenchSettings.of(options).load());
  }

  @Test
  void sizesAscend() {
    assertThat(sizes(parse("--sizes", "100k,1m"))).containsExactly(100_000, 1_000_000);
    for (String wrong : List.of("1m,100k", "9k", "1m,1005k")) {
      assertThatThrownBy(() -> sizes(parse("--sizes", wrong)))
          .hasMessageContaining("--sizes: ascending, each at least 10000 more");
    }
    // 100 puts per second for an hour.
    assertThatThrownBy(() -> sizes(parse("--sizes", "1m,1100k", "--duration", "3600s")))
        .hasMessage(
            "--sizes: ascending, each at least 727400 more than the one before, not"
                + " [1000000, 1100000]");
  }

  @Test
  void runningServerIsMeasuredAsItIs() {
    for (String other : List.of("--sizes", "--sorted", "--settle", "--etcd", "--rounds")) {
      Options options = parse("--endpoint", "127.0.0.1:2379", other, "3");
      assertThatThrownBy(() -> sizes(options))
          .hasMessage("--endpoint: measures that server as it is, without " + other);
    }
  }

  @Test
  void optionsOfFillAreCheckedBeforeFill() {
    assertThatThrownBy(() -> sizes(parse("--sorted", "yes")))
        .hasMessage("--sorted: on or off, not yes");
    assertThatThrownBy(() -> sizes(parse("--settle", "long")))
        .hasMessage("--settle: not a duration: long");
  }

  @Test
  void runningServerHasEndpointsAndMayHaveProcess() {
    Options options = parse("--endpoint", "127.0.0.1:1,127.0.0.1:2");
    assertThat(RunningServer.isNamed(options)).isTrue();
    RunningServer server = RunningServer.of(options);
    assertThat(server.endpoints())
        .containsExactly(Endpoint.parse("127.0.0.1:1"), Endpoint.parse("127.0.0.1:2"));
    assertThat(server.name()).isEqualTo("127.0.0.1:1, 127.0.0.1:2");
    assertThat(server.usage().get()).isEqualTo(ProcessUsage.UNKNOWN);
    String self = Long.toString(ProcessHandle.current().pid());
    RunningServer known = RunningServer.of(parse("--endpoint", "127.0.0.1:1", "--pid", self));
    assertThat(known.usage().get().rssBytes()).isPositive();
    assertThat(RunningServer.isNamed(parse("--sizes", "100k"))).isFalse();
  }
}
