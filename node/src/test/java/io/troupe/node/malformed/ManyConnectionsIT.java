package io.troupe.node.malformed;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.node.process.NodeProcess;
import io.troupe.node.process.TestJdks;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What clients cost that connect, begin to speak HTTP/2 and ask nothing. */
class ManyConnectionsIT {
  private static final int CONNECTIONS = 300;

  /** Its buffers, its table of streams, and what its stages are. */
  private static final long MOST_KIB = 160;

  @TempDir Path directory = Path.of("");

  private static void connect(Target target, int count, List<Socket> connections)
      throws IOException {
    for (int i = 0; i < count; i++) {
      Socket socket = target.dial();
      connections.add(socket);
      socket.getOutputStream().write(Http2Bytes.opening());
      assertThat(socket.getInputStream().read()).as("the server's settings").isNotNegative();
    }
  }

  @Test
  void aConnectionThatAsksNothingCostsLittle() throws Exception {
    TestJdks.Jdk jdk = TestJdks.running();
    List<Socket> connections = new ArrayList<>();
    try (NodeProcess member = NodeProcess.member(jdk, directory, "-Xmx256m").start().awaitReady()) {
      Target target = new Target(member.port(), null);
      // What is made once is no cost of a connection.
      connect(target, 20, connections);
      Condition before = Condition.of(jdk, member.pid());
      connect(target, CONNECTIONS, connections);
      Condition after = Condition.of(jdk, member.pid());
      System.out.println("before " + before + "\nafter  " + after);
      assertThat((after.heapKiB() - before.heapKiB()) / CONNECTIONS)
          .as("KiB of heap for a connection")
          .isBetween(0L, MOST_KIB);
    } finally {
      for (Socket socket : connections) {
        socket.close();
      }
    }
  }
}
