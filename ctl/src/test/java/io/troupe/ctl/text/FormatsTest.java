package io.troupe.ctl.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FormatsTest {
  @Test
  void durationsHaveGoForm() {
    assertThat(Durations.format(0)).isEqualTo("0s");
    assertThat(Durations.format(999)).isEqualTo("999ns");
    assertThat(Durations.format(1_500)).isEqualTo("1.5µs");
    assertThat(Durations.format(15_957_743)).isEqualTo("15.957743ms");
    assertThat(Durations.format(2_000_000_000L)).isEqualTo("2s");
    assertThat(Durations.format(3_723_500_000_000L)).isEqualTo("1h2m3.5s");
    assertThat(Durations.format(60_000_000_000L)).isEqualTo("1m0s");
  }

  @Test
  void durationsAreReadAsInGo() {
    assertThat(Durations.parse("1h2m3.5s")).isEqualTo(Duration.ofMillis(3_723_500));
    assertThat(Durations.parse("300ms")).isEqualTo(Duration.ofMillis(300));
    assertThat(Durations.parse("0")).isEqualTo(Duration.ZERO);
    assertThat(Durations.parse("-2s")).isEqualTo(Duration.ofSeconds(-2));
    assertThatThrownBy(() -> Durations.parse("5"))
        .hasMessage("time: missing unit in duration \"5\"");
    assertThatThrownBy(() -> Durations.parse("5x")).hasMessage("time: invalid duration \"5x\"");
    assertThatThrownBy(() -> Durations.parse("")).hasMessage("time: invalid duration \"\"");
  }

  @Test
  void integersFailWithGoTexts() {
    assertThat(Integers.parse("-12", 10)).isEqualTo(-12);
    assertThat(Integers.parseUnsigned("ffffffffffffffff", 16)).isEqualTo(-1L);
    assertThatThrownBy(() -> Integers.parse("x", 10))
        .hasMessage("strconv.ParseInt: parsing \"x\": invalid syntax");
    assertThatThrownBy(() -> Integers.parse("9999999999999999999", 10))
        .hasMessage("strconv.ParseInt: parsing \"9999999999999999999\": value out of range");
    assertThatThrownBy(() -> Integers.parseUnsigned("-1", 16))
        .hasMessage("strconv.ParseUint: parsing \"-1\": invalid syntax");
    assertThatThrownBy(() -> Integers.parse("", 10))
        .hasMessage("strconv.ParseInt: parsing \"\": invalid syntax");
  }

  @Test
  void sizesUsePowersOf1000() {
    assertThat(Sizes.format(9)).isEqualTo("9 B");
    assertThat(Sizes.format(999)).isEqualTo("999 B");
    assertThat(Sizes.format(1000)).isEqualTo("1.0 kB");
    assertThat(Sizes.format(12_288)).isEqualTo("12 kB");
    assertThat(Sizes.format(2_147_483_648L)).isEqualTo("2.1 GB");
    assertThat(Sizes.format(1_000_000)).isEqualTo("1.0 MB");
  }

  @Test
  void wordsKeepQuotedText() {
    assertThat(Words.split("put k \"v 2\\n\" 'x y' --lease=1"))
        .containsExactly("put", "k", "v 2\n", "x y", "--lease=1");
    assertThat(Words.split("   ")).isEmpty();
    assertThatThrownBy(() -> Words.split("put k \"\\q\"")).hasMessage("invalid syntax");
  }

  @Test
  void prefixEndIncrementsTheLastByteThatCan() {
    assertThat(KeyRanges.prefixEnd(ByteString.copyFromUtf8("ab")).toStringUtf8()).isEqualTo("ac");
    ByteString high = ByteString.copyFrom(new byte[] {'a', (byte) 0xff});
    assertThat(KeyRanges.prefixEnd(high).toStringUtf8()).isEqualTo("b");
    assertThat(KeyRanges.prefixEnd(high.substring(1))).isEqualTo(KeyRanges.OPEN);
  }
}
