package io.troupe.tests.malformed;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.FreePort;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.OwnHeap;
import io.troupe.tests.process.ProcessResources;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cost of clients that connect, send the HTTP/2 preface and no request. */
@Tag("full")
@OwnHeap
class ManyConnectionsIT {
  private static final int CONNECTIONS = 300;

  /** Buffers, stream table and stages of a connection. */
  private static final long MOST_KIB = 160;

  /** Additional TLS buffers. */
  private static final long MOST_KIB_WITH_TLS = 280;

  private static final Random RANDOM = new Random(1);

  @TempDir Path directory = Path.of("");

  private static void connect(Target target, int count, List<Socket> connections)
      throws IOException {
    for (int i = 0; i < count; i++) {
      Socket socket = target.connect(RANDOM);
      connections.add(socket);
      socket.getOutputStream().write(Http2Bytes.opening());
      assertThat(socket.getInputStream().read()).as("the server's settings").isNotNegative();
    }
  }

  @Test
  void idleConnectionCostsLittle() throws Exception {
    costsLittle(null, MOST_KIB);
  }

  @Test
  void idleTlsConnectionCostsLittle() throws Exception {
    costsLittle(new TlsSide(directory), MOST_KIB_WITH_TLS);
  }

  private void costsLittle(@Nullable TlsSide tls, long mostKib) throws Exception {
    TestJdks.Jdk jdk = TestJdks.running();
    int port = FreePort.next();
    NodeProcess.Builder builder =
        NodeProcess.member(jdk, directory, "-Xmx256m")
            .setting("max-connections", "1000")
            .setting(
                "listen-client-urls", (tls == null ? "http" : "https") + "://127.0.0.1:" + port);
    if (tls != null) {
      builder.settings(tls.serverSettings());
    }
    List<Socket> connections = new ArrayList<>();
    try (NodeProcess member = builder.start().awaitReady()) {
      Target target = new Target(port, tls == null ? null : tls.client());
      // One-time objects are no cost of a connection.
      connect(target, 20, connections);
      ProcessResources before = ProcessResources.of(jdk, member.pid());
      connect(target, CONNECTIONS, connections);
      ProcessResources after = ProcessResources.of(jdk, member.pid());
      System.out.println("tls=" + (tls != null) + "\nbefore " + before + "\nafter  " + after);
      assertThat((after.heapKiB() - before.heapKiB()) / CONNECTIONS)
          .as("KiB of heap for a connection")
          .isBetween(0L, mostKib);
    } finally {
      for (Socket socket : connections) {
        socket.close();
      }
    }
  }
}
