package io.troupe.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OptionsTest {
  private static final Set<String> KNOWN = Set.of("clients", "duration", "out");

  private static Options parse(String... words) {
    return Options.parse(List.of(words), KNOWN);
  }

  @Test
  void commandThenOptionsInBothForms() {
    Options options = parse("load", "--clients", "1, 10,,100", "--duration=500ms");
    assertThat(options.command()).isEqualTo("load");
    assertThat(options.integers("clients", List.of())).containsExactly(1, 10, 100);
    assertThat(options.duration("duration", Duration.ZERO)).isEqualTo(Duration.ofMillis(500));
    assertThat(options.has("out")).isFalse();
  }

  @Test
  void commandIsOptionalAndLastValueOfRepeatedOptionCounts() {
    Options options = parse("--duration", "2", "--duration", "3s");
    assertThat(options.command()).isEmpty();
    assertThat(options.duration("duration", Duration.ZERO)).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void sizesHaveUnits() {
    Options options = Options.parse(List.of("--out", "1000,100k,10m"), KNOWN);
    assertThat(options.sizes("out", List.of())).containsExactly(1000, 100_000, 10_000_000);
    for (String wrong : List.of("1g", "k", "3000m", "1.5m")) {
      assertThatThrownBy(() -> parse("--out", wrong).sizes("out", List.of()))
          .hasMessageContaining("--out: not a number of keys: " + wrong);
    }
  }

  @Test
  void rejectsUnknownWordsAndOptions() {
    assertThatThrownBy(() -> parse("--colour", "red"))
        .hasMessageContaining("unknown option --colour");
    assertThatThrownBy(() -> parse("load", "put")).hasMessageContaining("not an option: put");
    assertThatThrownBy(() -> parse("--out")).hasMessageContaining("--out needs a value");
    assertThatThrownBy(() -> parse("--clients", "1,many").integers("clients", List.of()))
        .hasMessageContaining("not numbers");
    assertThatThrownBy(() -> parse("--duration", "5m").duration("duration", Duration.ZERO))
        .hasMessageContaining("not a duration");
  }

  @Test
  void wrongCommandLineExitsWithTwo() {
    assertThat(BenchMain.run(List.of("dance"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("--profiles", "dance"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("--clients", "0"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("compare"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("--members", "3", "--leader", "4"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("turns", "--builds", "bin/node"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("turns", "--builds", "a,b,a"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("--idle-leases", "0"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("--tls", "yes"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("--tls", "on", "--endpoint", "127.0.0.1:1"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("scale", "--sizes", "100k,50k"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("scale", "--sizes", "many"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("cold", "--windows", "20,10"))).isEqualTo(2);
    assertThat(BenchMain.run(List.of("--help"))).isZero();
  }

  @Test
  void defaultsAreTheFullSet() {
    BenchSettings settings = BenchSettings.of(parse());
    assertThat(settings.profiles())
        .containsExactly(
            "put",
            "range",
            "range-serializable",
            "range-100",
            "txn",
            "mix",
            "watch",
            "lease-keep-alive",
            "kubernetes",
            "long-read",
            "compaction",
            "snapshot-save",
            "hash",
            "history",
            "lease-expiry",
            "idle-memory");
    assertThat(settings.load().clients()).containsExactly(1, 10, 100, 1000);
    assertThat(settings.load().keys()).isEqualTo(10_000);
    assertThat(settings.load().valueBytes()).isEqualTo(256);
  }
}
