package io.troupe.node.flags;

import static io.troupe.node.flags.CommandLines.read;
import static io.troupe.node.flags.CommandLines.settings;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Default advertised addresses (F8). */
class DefaultHostTest {
  @TempDir Path directory = Path.of("");

  private String file(String... lines) throws IOException {
    return CommandLines.file(directory, lines);
  }

  private static final String PEER = "troupe.initial-advertise-peer-urls";
  private static final String CLIENT = "troupe.advertise-client-urls";

  @Test
  void defaultAdvertisedAddressIsThatOfDefaultRoute_F8() throws IOException {
    EtcdCommandLine wildcard = read(Map.of(), "--listen-peer-urls=https://0.0.0.0:7001");
    assertThat(wildcard.properties())
        .containsEntry(PEER, "http://192.0.2.7:7001")
        .doesNotContainKey(CLIENT);
    assertThat(wildcard.notices())
        .contains(
            DeferredLogLine.info("detected default host for advertise").with("host", "192.0.2.7"));
    assertThat(
            settings(
                "--config-file", file("listen-client-urls: http://0.0.0.0:5, http://10.0.0.1:6")))
        .containsEntry(CLIENT, "http://192.0.2.7:5")
        .doesNotContainKey(PEER);
    assertThat(
            settings(
                "--listen-client-urls=http://0.0.0.0:5",
                "--advertise-client-urls=http://localhost:2379"))
        .as("a default that was written down is one")
        .containsEntry(CLIENT, "http://192.0.2.7:5");
  }

  @Test
  void otherAddressesAreUnchanged_F8() {
    assertThat(settings("--listen-peer-urls=http://127.0.0.1:1")).doesNotContainKey(PEER);
    assertThat(
            settings(
                "--listen-peer-urls=http://0.0.0.0:1",
                "--initial-advertise-peer-urls=http://10.0.0.1:1"))
        .containsEntry(PEER, "http://10.0.0.1:1");
    EtcdCommandLine unknown =
        EtcdCommandLine.read(
            List.of("--listen-peer-urls=http://0.0.0.0:1"),
            Map.of(),
            () -> {
              throw new IOException("could not find default route");
            });
    assertThat(unknown.properties()).doesNotContainKey(PEER);
    assertThat(unknown.notices())
        .contains(
            DeferredLogLine.info("failed to detect default host")
                .with("error", "could not find default route"));
  }

  @Test
  void defaultRouteWithLowestMetricIsUsed() {
    String header =
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT";
    assertThat(
            DefaultHost.gate(
                List.of(
                    header,
                    "lan\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0",
                    "half\t00000000\t010200C0\t0003\t0\t0\t0\t00000080\t0\t0\t0",
                    "wifi\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0",
                    "cable\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0")))
        .contains("cable");
    assertThat(DefaultHost.gate(List.of(header))).isEmpty();
  }
}
