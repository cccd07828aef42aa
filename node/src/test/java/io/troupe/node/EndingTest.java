package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Exit statuses; that the process has them is tested with whole processes. */
class EndingTest {
  @ParameterizedTest
  @EnumSource
  void F3_onlyAWrongSettingEndsEtcdWithAnotherStatus(ExitCode code) {
    assertThat(Ending.status(code, false)).isEqualTo(code.code());
    assertThat(Ending.status(code, true))
        .isEqualTo(code == ExitCode.CONFIGURATION ? 1 : code.code());
  }
}
