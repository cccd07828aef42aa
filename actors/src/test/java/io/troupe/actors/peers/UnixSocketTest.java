package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Unix sockets behave as sockets of TCP do, as far as connections between members need it. */
class UnixSocketTest {
  private static final int BYTES = 5_000_000;

  private final UnixSocket one;
  private final UnixSocket two;

  UnixSocketTest(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("a.sock");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(file));
      one = UnixSocket.connect(file);
      two = new UnixSocket(server.accept());
    }
  }

  @AfterEach
  void close() throws IOException {
    one.close();
    two.close();
  }

  private static byte[] bytes(int seed) {
    byte[] bytes = new byte[BYTES];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static CompletableFuture<Void> write(UnixSocket socket, byte[] bytes) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            socket.getOutputStream().write(bytes);
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        },
        task -> new Thread(task).start());
  }

  @Test
  void bothSidesWriteAndReadAtTheSameTime() throws Exception {
    CompletableFuture<Void> first = write(one, bytes(1));
    CompletableFuture<Void> second = write(two, bytes(2));
    CompletableFuture<byte[]> read =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return one.getInputStream().readNBytes(BYTES);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            },
            task -> new Thread(task).start());
    assertThat(two.getInputStream().readNBytes(BYTES)).isEqualTo(bytes(1));
    assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo(bytes(2));
    first.get(20, TimeUnit.SECONDS);
    second.get(20, TimeUnit.SECONDS);
  }

  @Test
  void readWithoutBytesTimesOut() throws Exception {
    one.setSoTimeout(50);
    assertThatThrownBy(() -> one.getInputStream().read())
        .isInstanceOf(SocketTimeoutException.class);
    two.getOutputStream().write(7);
    assertThat(one.getInputStream().read()).isEqualTo(7);
  }

  @Test
  void otherSideReadsTheEndOfTheStream() throws Exception {
    two.close();
    assertThat(one.getInputStream().read()).isEqualTo(-1);
  }

  /** Also a thread that waits for bytes, or for space. */
  @Test
  void closeEndsWaitingThreads() throws Exception {
    CompletableFuture<Void> writes = write(one, bytes(1));
    CompletableFuture<Integer> reads =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return one.getInputStream().read();
              } catch (SocketException closed) {
                return -2;
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            },
            task -> new Thread(task).start());
    one.close();
    assertThat(reads.get(20, TimeUnit.SECONDS)).isEqualTo(-2);
    assertThatThrownBy(() -> writes.get(20, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class);
  }
}
