package io.troupe.ctl.golden;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares ctl with etcdctl 3.7.1, command by command and mode by mode. The expected output was
 * recorded from the real program against a member. To record it again: {@code
 * -Dtest=AllGoldenOutputTest -Dtroupe.ctl.record=/path/to/etcdctl}.
 */
@Tag("full")
class AllGoldenOutputTest {
  @Test
  void allCommandsPrintWhatEtcdctlPrints_CT1_CT2_CT3_CT4_CT5() throws Exception {
    String program = System.getProperty("troupe.ctl.record", "");
    if (!program.isEmpty()) {
      var unused =
          new GoldenComparison().run(GoldenComparison.files(), ProgramRunner.of(program), true);
    }
    assertThat(new GoldenComparison().run(GoldenComparison.files(), CommandRunner.ctl(), false))
        .isEmpty();
  }
}
