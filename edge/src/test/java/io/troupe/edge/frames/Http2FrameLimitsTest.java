package io.troupe.edge.frames;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.MemoryBudget;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** T4, and windows. */
class Http2FrameLimitsTest {
  private static final long SECOND = 1_000_000_000L;

  private Http2FrameLimits policy = policy(true, 5 * SECOND);

  /** The limits of a connection after its preface. */
  private static Http2FrameLimits policy(boolean enforcesPings, long minPingNanos) {
    Http2FrameLimits policy =
        new Http2FrameLimits(
            enforcesPings,
            minPingNanos,
            new ResetRate(1000, 1000),
            MemoryBudget.UNLIMITED.share(),
            stream -> {});
    policy.received(
        ByteBuffer.wrap("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII)), 0);
    return policy;
  }

  private static ByteBuffer frame(int type, int flags, int stream, int length) {
    ByteBuffer out = ByteBuffer.allocate(9 + length);
    out.put((byte) (length >> 16)).putShort((short) length);
    out.put((byte) type).put((byte) flags).putInt(stream);
    return out.rewind();
  }

  private boolean ping(long atNanos) {
    return policy.received(frame(6, 0, 0, 8), atNanos) == null;
  }

  @Test
  void thirdStrikeClosesConnection() {
    assertThat(ping(0)).isTrue();
    assertThat(ping(SECOND)).isTrue();
    assertThat(ping(2 * SECOND)).isTrue();
    assertThat(ping(3 * SECOND)).isFalse();
  }

  @Test
  void fiveSecondsBetweenPingsAreAllowedWithOpenStream() {
    policy.received(frame(1, 4, 1, 10), 0);
    for (int i = 0; i < 100; i++) {
      assertThat(ping(5 * SECOND * i)).isTrue();
    }
    ping(500 * SECOND);
    ping(501 * SECOND);
    assertThat(ping(502 * SECOND)).isTrue();
    assertThat(ping(503 * SECOND)).isFalse();
  }

  @Test
  void minimumPingIntervalIsConfigurable() {
    policy = policy(true, 60 * SECOND);
    policy.received(frame(1, 4, 1, 10), 0);
    for (int i = 0; i < 100; i++) {
      assertThat(ping(60 * SECOND * i)).isTrue();
    }
    assertThat(ping(5999 * SECOND)).isTrue();
    assertThat(ping(6058 * SECOND)).isTrue();
    assertThat(ping(6117 * SECOND)).isFalse();
    policy = policy(true, 0);
    policy.received(frame(1, 4, 1, 10), 0);
    for (int i = 0; i < 100; i++) {
      assertThat(ping(i)).isTrue();
    }
  }

  @Test
  void twoHoursBetweenPingsAreRequiredWithoutStream() {
    policy.received(frame(1, 4, 1, 10), 0);
    policy.sent(frame(1, 5, 1, 20), 0);
    assertThat(ping(0)).isTrue();
    assertThat(ping(3600 * SECOND)).isTrue();
    assertThat(ping(2 * 3600 * SECOND)).isTrue();
    assertThat(ping(3 * 3600 * SECOND)).isFalse();
  }

  @Test
  void responseFramesClearStrikes() {
    ping(0);
    ping(1);
    ping(2);
    policy.sent(frame(0, 0, 1, 100), 0);
    assertThat(ping(3)).isTrue();
    assertThat(ping(4)).isTrue();
    assertThat(ping(5)).isTrue();
    assertThat(ping(6)).isFalse();
  }

  @Test
  void acksOfServerPingsAreNotCounted() {
    for (int i = 0; i < 10; i++) {
      assertThat(policy.received(frame(6, 1, 0, 8), i)).isNull();
    }
  }

  @Test
  void findsFramesInAnyChunking() {
    ByteBuffer all = ByteBuffer.allocate(1000);
    all.put(frame(1, 4, 1, 30)).put(frame(0, 1, 1, 70));
    for (int i = 0; i < 4; i++) {
      all.put(frame(6, 0, 0, 8));
    }
    all.flip();
    Http2FrameLimits.Breach breach = null;
    while (all.hasRemaining()) {
      breach = policy.received(ByteBuffer.wrap(new byte[] {all.get()}), 1);
    }
    assertThat(breach).isEqualTo(Http2FrameLimits.Breach.PINGS);
  }

  @Test
  void otherProtocolsAreIgnored() {
    Http2FrameLimits http1 =
        new Http2FrameLimits(
            true,
            5 * SECOND,
            new ResetRate(1000, 1000),
            MemoryBudget.UNLIMITED.share(),
            stream -> {});
    byte[] request = "GET /version HTTP/1.1\r\n\r\n".repeat(50).getBytes(StandardCharsets.US_ASCII);
    assertThat(http1.received(ByteBuffer.wrap(request), 0)).isNull();
  }

  @Test
  void goAwayContainsReason() {
    policy.received(frame(1, 4, 7, 10), 0);
    ByteBuffer frame = ByteBuffer.wrap(policy.goAway(Http2FrameLimits.Breach.PINGS));
    assertThat(frame.get(3)).isEqualTo((byte) 7);
    assertThat(frame.getInt(9)).isEqualTo(7);
    assertThat(frame.getInt(13)).isEqualTo(0xb);
    assertThat(new String(frame.array(), 17, frame.capacity() - 17, StandardCharsets.US_ASCII))
        .isEqualTo("too_many_pings");
  }

  private Http2FrameLimits.@Nullable Breach widen(int stream, long bytes) {
    ByteBuffer frame = frame(8, 0, stream, 4);
    frame.putInt(9, (int) bytes);
    return policy.received(frame, 0);
  }

  @Test
  void windowAboveProtocolLimitIsRejected() {
    assertThat(widen(0, Integer.MAX_VALUE - 65_535L)).isNull();
    assertThat(widen(0, 1)).isEqualTo(Http2FrameLimits.Breach.WINDOW);
    ByteBuffer frame = ByteBuffer.wrap(policy.goAway(Http2FrameLimits.Breach.WINDOW));
    assertThat(frame.getInt(13)).isEqualTo(3);
  }

  @Test
  void sentBytesMayBeReturnedToWindow() {
    widen(0, Integer.MAX_VALUE - 65_535L);
    for (int i = 0; i < 1000; i++) {
      policy.sent(frame(0, 0, 1, 16_000), 0);
      policy.sent(frame(1, 4, 1, 200), 0);
      assertThat(widen(0, 16_000)).isNull();
    }
    assertThat(widen(0, 1)).isEqualTo(Http2FrameLimits.Breach.WINDOW);
  }

  @Test
  void streamWindowsAreNotCountedForConnection() {
    for (int i = 0; i < 10; i++) {
      assertThat(widen(1, Integer.MAX_VALUE)).isNull();
    }
  }

  @Test
  void countsWindowInAnyChunking() {
    ByteBuffer frame = frame(8, 0, 0, 4);
    frame.putInt(9, Integer.MAX_VALUE);
    Http2FrameLimits.Breach breach = null;
    while (frame.hasRemaining()) {
      assertThat(breach).isNull();
      breach = policy.received(ByteBuffer.wrap(new byte[] {frame.get()}), 1);
    }
    assertThat(breach).isEqualTo(Http2FrameLimits.Breach.WINDOW);
  }

  @Test
  void pingsAreNotCountedWithoutEnforcement() {
    Http2FrameLimits lenient =
        new Http2FrameLimits(
            false,
            5 * SECOND,
            new ResetRate(1000, 1000),
            MemoryBudget.UNLIMITED.share(),
            stream -> {});
    lenient.received(
        ByteBuffer.wrap("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII)), 0);
    for (int i = 0; i < 10; i++) {
      assertThat(lenient.received(frame(6, 0, 0, 8), i)).isNull();
    }
  }

  private static ByteBuffer serverGoesAway(int errorCode) {
    return frame(7, 0, 0, 20).putInt(13, errorCode);
  }

  @Test
  void goAwayWithErrorClosesConnection() {
    assertThat(policy.sent(frame(0, 0, 1, 100), 0)).isFalse();
    assertThat(policy.sent(serverGoesAway(1), 0)).isTrue();
    assertThat(policy.sent(frame(0, 0, 1, 100), 0)).isTrue();
  }

  @Test
  void goAwayWithoutErrorKeepsConnection() {
    assertThat(policy.sent(serverGoesAway(0), 0)).isFalse();
  }

  @Test
  void invalidWindowUpdateIsRejected() {
    for (int length : new int[] {0, 3, 5, 8}) {
      Http2FrameLimits fresh =
          new Http2FrameLimits(
              true,
              5 * SECOND,
              new ResetRate(1000, 1000),
              MemoryBudget.UNLIMITED.share(),
              stream -> {});
      fresh.received(
          ByteBuffer.wrap("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII)),
          0);
      assertThat(fresh.received(frame(8, 0, 1, length), 0)).isEqualTo(Http2FrameLimits.Breach.SIZE);
    }
    assertThat(widen(1, 0)).isEqualTo(Http2FrameLimits.Breach.NO_INCREMENT);
  }

  @Test
  void streamIsOpenFromHeadersToEndOrReset() {
    List<Integer> reset = new ArrayList<>();
    Http2FrameLimits fresh =
        new Http2FrameLimits(
            true,
            5 * SECOND,
            new ResetRate(1000, 1000),
            MemoryBudget.UNLIMITED.share(),
            reset::add);
    fresh.received(
        ByteBuffer.wrap("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII)), 0);
    for (int stream = 1; stream <= 5; stream += 2) {
      assertThat(fresh.isOpen(stream)).isFalse();
      fresh.received(frame(1, 5, stream, 10), 0);
      assertThat(fresh.isOpen(stream)).isTrue();
    }
    fresh.received(frame(3, 0, 3, 4), 0);
    fresh.sent(frame(1, 5, 1, 10), 0);
    assertThat(fresh.isOpen(1)).as("response sent").isFalse();
    assertThat(fresh.isOpen(3)).as("reset").isFalse();
    assertThat(fresh.isOpen(5)).isTrue();
    assertThat(reset).containsExactly(3);
  }
}
