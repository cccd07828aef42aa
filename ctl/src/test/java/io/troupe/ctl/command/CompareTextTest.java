package io.troupe.ctl.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.Compare;
import io.troupe.grpc.api.Compare.CompareResult;
import io.troupe.grpc.api.Compare.CompareTarget;
import org.junit.jupiter.api.Test;

class CompareTextTest {
  private static Compare.Builder of(CompareResult result, CompareTarget target) {
    return Compare.newBuilder()
        .setKey(ByteString.copyFromUtf8("k"))
        .setResult(result)
        .setTarget(target);
  }

  @Test
  void allTargetsAndOperatorsAreRead() {
    assertThat(CompareText.parse("ver(\"k\") = \"1\""))
        .isEqualTo(of(CompareResult.EQUAL, CompareTarget.VERSION).setVersion(1).build());
    assertThat(CompareText.parse("c(\"k\") != \"2\""))
        .isEqualTo(of(CompareResult.NOT_EQUAL, CompareTarget.CREATE).setCreateRevision(2).build());
    assertThat(CompareText.parse("mod(\"k\") > \"-3\""))
        .isEqualTo(of(CompareResult.GREATER, CompareTarget.MOD).setModRevision(-3).build());
    assertThat(CompareText.parse("value(\"k\") < \"a \\\"b\\\"\""))
        .isEqualTo(
            of(CompareResult.LESS, CompareTarget.VALUE)
                .setValue(ByteString.copyFromUtf8("a \"b\""))
                .build());
    assertThat(CompareText.parse("lease(\"k\") = \"1f\""))
        .isEqualTo(of(CompareResult.EQUAL, CompareTarget.LEASE).setLease(0x1f).build());
  }

  @Test
  void malformedCompareIsRefused() {
    assertThatThrownBy(() -> CompareText.parse("mod \"k\""))
        .hasMessage("malformed comparison: mod \"k\"");
    assertThatThrownBy(() -> CompareText.parse("mo(\"k\") = \"1\""))
        .hasMessage("malformed comparison: mo(\"k\") = \"1\" (unknown target mo)");
    assertThatThrownBy(() -> CompareText.parse("mod(\"k\") = \"x\""))
        .hasMessage("invalid txn compare request: mod(\"k\") = \"x\"");
    assertThatThrownBy(() -> CompareText.parse("mod(\"k\") ~ \"1\""))
        .hasMessageContaining("unknown operator ~");
    assertThatThrownBy(() -> CompareText.parse("mod(k) = \"1\""))
        .hasMessageStartingWith("malformed comparison: mod(k) = \"1\"; got ");
  }
}
