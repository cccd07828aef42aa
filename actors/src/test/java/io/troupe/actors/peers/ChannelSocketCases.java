package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Channels behave as sockets of the JDK do, as far as connections between members need it. */
abstract class ChannelSocketCases {
  private static final int BYTES = 5_000_000;

  final ChannelSocket one;
  final ChannelSocket two;

  /** Both ends of a connection. */
  record Ends(ChannelSocket one, ChannelSocket two) {}

  ChannelSocketCases(Ends ends) {
    this.one = ends.one();
    this.two = ends.two();
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

  private static CompletableFuture<Void> write(ChannelSocket socket, byte[] bytes) {
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

  /** The thread that may wait sends what other threads left, in order. */
  @Test
  void onlyOneThreadWaitsForTheOtherSide() throws Exception {
    byte[] sent = bytes(3);
    one.onlyWaits(Thread.currentThread());
    int[] written = new int[1];
    CompletableFuture.runAsync(
            () -> {
              while (!one.keepsBytes()) {
                writeAt(one, sent, written[0], 1000);
                written[0] += 1000;
              }
              writeAt(one, sent, written[0], 1000);
              written[0] += 1000;
            })
        .get(20, TimeUnit.SECONDS);
    CompletableFuture<byte[]> received =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return two.getInputStream().readNBytes(BYTES);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            },
            task -> new Thread(task).start());
    one.sendKept();
    assertThat(one.keepsBytes()).isFalse();
    one.getOutputStream().write(sent, written[0], BYTES - written[0]);
    assertThat(received.get(20, TimeUnit.SECONDS)).isEqualTo(sent);
  }

  /** The kept bytes are bounded: a side that reads nothing ends the connection. */
  @Test
  void writeThatWouldKeepTooMuchFails() {
    one.onlyWaits(new Thread());
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < BYTES / 1000; i++) {
                one.getOutputStream().write(new byte[1000]);
              }
            })
        .isInstanceOf(IOException.class)
        .hasMessage("the other side takes too little");
  }

  private static void writeAt(ChannelSocket socket, byte[] bytes, int offset, int length) {
    try {
      socket.getOutputStream().write(bytes, offset, length);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
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
