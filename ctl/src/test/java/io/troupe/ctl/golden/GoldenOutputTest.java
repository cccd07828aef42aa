package io.troupe.ctl.golden;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Compares ctl with etcdctl 3.7.1 in the commands for keys and transactions. {@link
 * AllGoldenOutputTest} has all commands.
 */
class GoldenOutputTest {
  @Test
  void keysAndTransactionsPrintWhatEtcdctlPrints_CT4_CT5() throws Exception {
    assertThat(
            new GoldenComparison()
                .run(GoldenComparison.files().subList(0, 2), CommandRunner.ctl(), false))
        .isEmpty();
  }
}
