package io.troupe.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GoDurationTest {
  @Test
  void parsesNumbersWithUnits() {
    assertThat(GoDuration.parse("0")).isZero();
    assertThat(GoDuration.parse("1h30m")).isEqualTo(Duration.ofMinutes(90));
    assertThat(GoDuration.parse("1.5s")).isEqualTo(Duration.ofMillis(1500));
    assertThat(GoDuration.parse(".5ms")).isEqualTo(Duration.ofNanos(500_000));
    assertThat(GoDuration.parse("2h0m0s")).isEqualTo(Duration.ofHours(2));
    assertThat(GoDuration.parse("-10us")).isEqualTo(Duration.ofNanos(-10_000));
    assertThat(GoDuration.parse("+3\u00b5s7ns")).isEqualTo(Duration.ofNanos(3_007));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0s",
        "7ns",
        "1.5\u00b5s",
        "12.000345ms",
        "1s",
        "2.5s",
        "1m0s",
        "1h0m0.25s",
        "-3ms"
      })
  void formatsLikeGo(String text) {
    assertThat(GoDuration.text(GoDuration.parse(text))).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "-", "s", "1x", "1 s", "1h 2m", "--1s", "300000h1", "3000000h"})
  void rejectsOtherTexts(String text) {
    assertThatThrownBy(() -> GoDuration.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("invalid duration");
  }
}
