package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Parses lines of /proc as Linux writes them. */
class ProcessFiguresTest {
  @Test
  void softLimitIsReported() {
    String head = "Limit                     Soft Limit           Hard Limit           Units     ";
    assertThat(
            ProcessFigures.addressSpace(
                List.of(
                    head,
                    "Max open files            1024                 524288               files     ",
                    "Max address space         8589934592           unlimited            bytes     ")))
        .isEqualTo(8589934592.0);
    assertThat(
            ProcessFigures.addressSpace(
                List.of(
                    head,
                    "Max address space         unlimited            unlimited            bytes     ")))
        .as("as Go's client shows it")
        .isEqualTo(1.8446744073709552E19);
  }

  @Test
  void bytesAreReadByColumnName() {
    List<String> netstat =
        List.of(
            "TcpExt: SyncookiesSent InOctets",
            "TcpExt: 1 2",
            "IpExt: InNoRoutes InTruncatedPkts InMcastPkts InOctets OutOctets",
            "IpExt: 5 0 0 123456 7890");
    assertThat(ProcessFigures.octets(netstat, "InOctets")).isEqualTo(123456);
    assertThat(ProcessFigures.octets(netstat, "OutOctets")).isEqualTo(7890);
  }
}
