package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.edge.connection.PortServices;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two members listen on the same ports (socket-reuse-port). */
@Timeout(120)
class SharedPortTest {
  private static final Pattern MEMBER = Pattern.compile("\"member_id\":\"(\\d+)\"");

  @TempDir Path directory = Path.of("");

  private final int port = FreePort.next();
  private final int metrics = FreePort.next();

  private RunningNode run(String name, boolean shared) {
    Map<String, Object> settings = TestConfig.alone(directory.resolve(name));
    settings.put("troupe.listen-client-urls", List.of("http://127.0.0.1:" + port));
    settings.put("troupe.listen-metrics-urls", List.of("http://127.0.0.1:" + metrics));
    settings.put("troupe.socket-reuse-port", shared);
    return RunningNode.start(
        TestConfig.of(settings),
        failure -> {
          throw new AssertionError(failure);
        });
  }

  /** The member that responds to a new connection. */
  private String member() throws IOException {
    try (Socket connection = new Socket(InetAddress.getLoopbackAddress(), port)) {
      connection
          .getOutputStream()
          .write(
              ("POST /v3/maintenance/status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                      + "Connection: close\r\n\r\n{}")
                  .getBytes(StandardCharsets.UTF_8));
      String answer =
          new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher found = MEMBER.matcher(answer);
      assertThat(found.find()).as(answer).isTrue();
      return found.group(1);
    }
  }

  @Test
  void bothListenersGetConnections() throws Exception {
    try (RunningNode one = run("one", true);
        RunningNode two = run("two", true)) {
      one.awaitReady();
      two.awaitReady();
      assertThat(two.clientPorts()).isEqualTo(one.clientPorts()).containsExactly(port);
      assertThat(two.ports(PortServices.METRICS)).containsExactly(metrics);
      Set<String> members = new HashSet<>();
      // The kernel chooses by the client port: 64 connections to one member are less likely than a
      // hardware failure.
      for (int i = 0; i < 64 && members.size() < 2; i++) {
        members.add(member());
      }
      assertThat(members).hasSize(2);
    }
  }

  @Test
  void bothListenersNeedReusePort() throws Exception {
    try (RunningNode one = run("one", true)) {
      one.awaitReady();
      assertThatThrownBy(() -> run("two", false))
          .isInstanceOf(StartException.class)
          .hasMessageContaining("cannot listen on troupe.listen-client-urls")
          .extracting(failure -> ((StartException) failure).exitCode())
          .isEqualTo(ExitCode.ADDRESS);
    }
    try (RunningNode one = run("one", false)) {
      one.awaitReady();
      assertThatThrownBy(() -> run("two", true)).isInstanceOf(StartException.class);
    }
  }
}
