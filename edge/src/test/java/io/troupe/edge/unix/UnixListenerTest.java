package io.troupe.edge.unix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.Done;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sockets, their files and their bytes. */
@Timeout(60)
class UnixListenerTest {
  private static final ActorSystem SYSTEM = ActorSystem.create("unix");
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  @TempDir Path directory = Path.of("");
  private Path path = Path.of("");

  @AfterAll
  static void stop() {
    SYSTEM.terminate();
  }

  @BeforeEach
  void ownPath() {
    path = directory.resolve("s.sock");
  }

  /** Serves each connection with a flow, up to a maximum number at a time. */
  private static CompletionStage<Done> serve(
      UnixListener listener, int most, Flow<ByteString, ByteString, NotUsed> each) {
    return listener
        .connections()
        .mapAsyncUnordered(
            most,
            bytes ->
                bytes
                    .watchTermination((before, ended) -> ended)
                    .join(each)
                    .run(SYSTEM)
                    .exceptionally(failure -> Done.getInstance()))
        .runWith(Sink.ignore(), SYSTEM);
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(path));
  }

  private static void write(SocketChannel channel, String text) throws IOException {
    channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Reads until the connection is closed. */
  private static long drain(SocketChannel channel) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    long total = 0;
    for (int read = channel.read(buffer.clear()); read >= 0; read = channel.read(buffer.clear())) {
      total += read;
    }
    return total;
  }

  private static String read(SocketChannel channel, int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes);
    while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
      // Reads more.
    }
    return new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8);
  }

  @Test
  void bytesFlowInBothDirections() throws Exception {
    try (UnixListener listener = UnixListener.open(path, 10)) {
      serve(listener, 10, Flow.create());
      List<SocketChannel> clients = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        clients.add(connect());
      }
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < clients.size(); i++) {
          write(clients.get(i), "client " + i);
          assertThat(read(clients.get(i), 8)).isEqualTo("client " + i);
        }
      }
      for (SocketChannel client : clients) {
        // The close is also passed back.
        client.shutdownOutput();
        assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        client.close();
      }
    }
  }

  @Test
  void slowReaderGetsAllBytesAndBlocksNoOtherClient() throws Exception {
    long size = 64L << 20;
    ByteString part = ByteString.fromArray(new byte[1 << 20]);
    AtomicInteger made = new AtomicInteger();
    try (UnixListener listener = UnixListener.open(path, 10)) {
      serve(
          listener,
          10,
          Flow.fromSinkAndSource(
              Sink.<ByteString>ignore(),
              Source.repeat(part)
                  .take(64)
                  .map(
                      next -> {
                        made.incrementAndGet();
                        return next;
                      })));
      try (SocketChannel slow = connect();
          SocketChannel fast = connect()) {
        assertThat(drain(fast)).isEqualTo(size);
        assertThat(made).as("unread bytes are not produced").hasValueLessThan(64 + 32);
        assertThat(drain(slow)).isEqualTo(size);
      }
    }
  }

  @Test
  void serverWithoutDemandBlocksItsClient() throws Exception {
    try (UnixListener listener = UnixListener.open(path, 10)) {
      CompletableFuture<ByteString> never = new CompletableFuture<>();
      serve(
          listener,
          10,
          Flow.fromSinkAndSource(Sink.<ByteString>never(), Source.completionStage(never)));
      try (SocketChannel client = connect()) {
        client.configureBlocking(false);
        AtomicInteger written = new AtomicInteger();
        ByteBuffer part = ByteBuffer.allocate(1 << 16);
        Awaitility.await()
            .during(Duration.ofMillis(300))
            .atMost(TIMEOUT)
            .until(
                () -> {
                  int now = client.write(part.clear());
                  written.addAndGet(now);
                  return now == 0;
                });
        assertThat(written.get()).isLessThan(8 << 20);
        never.complete(ByteString.fromString("enough"));
        client.configureBlocking(true);
        assertThat(read(client, 6)).isEqualTo("enough");
      }
    }
  }

  @Test
  void connectionsAboveLimitWait() throws Exception {
    try (UnixListener listener = UnixListener.open(path, 10)) {
      serve(listener, 1, Flow.create());
      try (SocketChannel second = second(connect())) {
        assertThat(read(second, 1)).isEqualTo("2");
      }
    }
  }

  /** The first connection is served alone until it is closed. */
  private SocketChannel second(SocketChannel first) throws IOException {
    try (first) {
      write(first, "1");
      assertThat(read(first, 1)).isEqualTo("1");
      SocketChannel second = connect();
      write(second, "2");
      second.configureBlocking(false);
      Awaitility.await()
          .during(Duration.ofMillis(300))
          .atMost(TIMEOUT)
          .until(() -> second.read(ByteBuffer.allocate(1)) == 0);
      second.configureBlocking(true);
      return second;
    }
  }

  @Test
  void closeRemovesFileAndCompletesSource() throws Exception {
    UnixListener listener = UnixListener.open(path, 10);
    CompletionStage<Done> ended = serve(listener, 10, Flow.create());
    try (SocketChannel client = connect()) {
      write(client, "a");
      assertThat(read(client, 1)).isEqualTo("a");
      listener.close();
      assertThat(path).doesNotExist();
      // Open connections stay open.
      write(client, "b");
      assertThat(read(client, 1)).isEqualTo("b");
    }
    assertThat(ended).succeedsWithin(TIMEOUT);
    Awaitility.await()
        .atMost(TIMEOUT)
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("unix " + path)));
  }

  @Test
  void fileOfOtherListenerIsNotRemoved() throws Exception {
    UnixListener listener = UnixListener.open(path, 10);
    Files.delete(path);
    try (UnixListener other = UnixListener.open(path, 10)) {
      listener.close();
      assertThat(other.path()).exists();
    }
    assertThat(path).doesNotExist();
  }

  @Test
  void staleSocketIsReplaced() throws Exception {
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(path));
    }
    assertThat(path).exists();
    try (UnixListener listener = UnixListener.open(path, 10)) {
      serve(listener, 1, Flow.create());
      try (SocketChannel client = connect()) {
        write(client, "a");
        assertThat(read(client, 1)).isEqualTo("a");
      }
    }
  }

  @Test
  void servedSocketIsNotReplaced() throws Exception {
    try (ServerSocketChannel alive = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      alive.bind(UnixDomainSocketAddress.of(path), 1);
      assertThatThrownBy(() -> UnixListener.open(path, 10))
          .isInstanceOf(BindException.class)
          .hasMessage("another process serves " + path);
      // The socket is not accepted from: its queue is full, but it is served.
      List<SocketChannel> queue = new ArrayList<>();
      boolean hasSpace = true;
      while (hasSpace) {
        SocketChannel waiting = SocketChannel.open(StandardProtocolFamily.UNIX);
        waiting.configureBlocking(false);
        queue.add(waiting);
        try {
          waiting.connect(UnixDomainSocketAddress.of(path));
        } catch (SocketException full) {
          hasSpace = false;
        }
      }
      assertThatThrownBy(() -> UnixListener.open(path, 10)).isInstanceOf(BindException.class);
      assertThat(path).exists();
      for (SocketChannel waiting : queue) {
        waiting.close();
      }
    }
  }

  @Test
  void otherFileIsNotReplaced() throws Exception {
    Files.writeString(path, "precious");
    assertThatThrownBy(() -> UnixListener.open(path, 10))
        .isInstanceOf(BindException.class)
        .hasMessage(path + " exists and is no socket");
    assertThat(path).hasContent("precious");
  }
}
