package io.troupe.persistence.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RocksSettingsTest {
  @ParameterizedTest
  @CsvSource({
    "-1, 512",
    "0, 512",
    "256, 512",
    "1024, 512",
    "20000, 10000",
    "65536, 32768",
    "9223372036854775807, 32768"
  })
  void tableFilesMayUseHalfOfTheDescriptors(long descriptors, int files) {
    assertThat(RocksSettings.openFiles(descriptors)).isEqualTo(files);
  }

  @Test
  void budgetsOutOfRangeAreRejected() {
    assertThatThrownBy(() -> new RocksSettings(8L << 20, 4L << 20, 1, 63, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxOpenFiles out of range: 63");
    assertThatThrownBy(() -> new RocksSettings((8L << 20) - 1, 4L << 20, 1, 64, 0))
        .hasMessage("blockCacheBytes out of range: 8388607");
  }
}
