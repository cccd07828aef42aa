package io.troupe.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class ReservedPortTest {
  private static InetSocketAddress address(ReservedPort port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port.number());
  }

  @Test
  void reservedPortsDiffer() throws IOException {
    Set<Integer> numbers = new HashSet<>();
    List<ReservedPort> open = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        ReservedPort port = ReservedPort.open();
        open.add(port);
        numbers.add(port.number());
      }
    } finally {
      for (ReservedPort port : open) {
        port.close();
      }
    }
    assertThat(numbers).hasSize(100);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void ownerListensOnReservedPortAgainAndAgain() throws IOException {
    try (ReservedPort port = ReservedPort.open()) {
      for (int i = 0; i < 2; i++) {
        try (ServerSocket server = new ServerSocket()) {
          server.setReuseAddress(true);
          server.bind(address(port));
          try (Socket client = new Socket(server.getInetAddress(), port.number());
              Socket accepted = server.accept()) {
            assertThat(accepted.getPort()).isEqualTo(client.getLocalPort());
          }
        }
      }
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void reservedPortIsGivenToNoOtherSocket() throws IOException {
    try (ReservedPort port = ReservedPort.open();
        ServerSocket server = new ServerSocket()) {
      server.setReuseAddress(false);
      assertThatThrownBy(() -> server.bind(address(port))).isInstanceOf(BindException.class);
    }
  }

  @Test
  void closedPortIsFree() throws IOException {
    ReservedPort port = ReservedPort.open();
    port.close();
    try (ServerSocket server = new ServerSocket()) {
      server.setReuseAddress(false);
      server.bind(address(port));
      assertThat(server.isBound()).isTrue();
    }
  }
}
