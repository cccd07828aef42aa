package io.troupe.edge.frames;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.MemoryBudget;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Limits of what a client may make the HTTP layer collect or process. */
class FrameLimitsTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int HEADERS = 1;
  private static final int RST_STREAM = 3;
  private static final int SETTINGS = 4;
  private static final int CONTINUATION = 9;
  private static final int END_HEADERS = 4;
  private static final int LARGEST = 16_384;
  private static final int RESETS_AT_ONCE = 100;

  private final Http2FrameLimits policy =
      new Http2FrameLimits(
          true,
          5 * SECOND,
          new ResetRate(RESETS_AT_ONCE, 10),
          MemoryBudget.UNLIMITED.share(),
          stream -> {});

  FrameLimitsTest() {
    policy.received(
        ByteBuffer.wrap("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII)), 0);
  }

  private static ByteBuffer frame(int type, int flags, int stream, int length) {
    ByteBuffer out = ByteBuffer.allocate(9 + length);
    out.put((byte) (length >> 16)).putShort((short) length);
    out.put((byte) type).put((byte) flags).putInt(stream);
    return out.rewind();
  }

  private Http2FrameLimits.@Nullable Breach client(int type, int flags, int stream, int length) {
    return policy.received(frame(type, flags, stream, length), 0);
  }

  @Test
  void headerBlockAboveLimitIsRejected() {
    assertThat(client(HEADERS, 0, 1, LARGEST)).isNull();
    assertThat(client(CONTINUATION, 0, 1, LARGEST)).isNull();
    assertThat(client(CONTINUATION, 0, 1, LARGEST)).isNull();
    assertThat(client(CONTINUATION, END_HEADERS, 1, LARGEST))
        .isEqualTo(Http2FrameLimits.Breach.HEADER_BLOCK);
    assertThat(ByteBuffer.wrap(policy.goAway(Http2FrameLimits.Breach.HEADER_BLOCK)).getInt(13))
        .as("ENHANCE_YOUR_CALM")
        .isEqualTo(0xb);
  }

  @Test
  void emptyContinuationFramesCount() {
    assertThat(client(HEADERS, 0, 1, 0)).isNull();
    int frames = 1;
    while (client(CONTINUATION, 0, 1, 0) == null) {
      frames++;
    }
    assertThat(frames).isEqualTo((64 << 10) / 9);
  }

  @Test
  void eachHeaderBlockHasTheWholeLimit() {
    for (int stream = 1; stream < 100; stream += 2) {
      assertThat(client(HEADERS, 0, stream, LARGEST)).isNull();
      assertThat(client(CONTINUATION, 0, stream, LARGEST)).isNull();
      assertThat(client(CONTINUATION, END_HEADERS, stream, LARGEST)).isNull();
    }
  }

  @Test
  void frameAboveTheAgreedSizeIsRefusedBeforeItsContent() {
    ByteBuffer head = ByteBuffer.allocate(9).put((byte) 0).putShort((short) (LARGEST + 1));
    assertThat(policy.received(head.rewind(), 0)).isEqualTo(Http2FrameLimits.Breach.FRAME);
  }

  @Test
  void resetsAreLimitedByTheirRate() {
    for (int i = 0; i < RESETS_AT_ONCE; i++) {
      assertThat(client(RST_STREAM, 0, 1, 4)).isNull();
    }
    // From here on, ten per second.
    assertThat(policy.received(frame(RST_STREAM, 0, 1, 4), SECOND / 10)).isNull();
    assertThat(policy.received(frame(RST_STREAM, 0, 1, 4), SECOND / 10))
        .isEqualTo(Http2FrameLimits.Breach.RESETS);
  }

  @Test
  void resetsBelowRateNeverCloseConnection() {
    for (int i = 0; i < 50 * RESETS_AT_ONCE; i++) {
      assertThat(policy.received(frame(RST_STREAM, 0, 1, 4), i * SECOND / 10)).isNull();
    }
  }

  @Test
  void resetsThatTheClientMakesTheServerSendCount() {
    for (int i = 0; i <= RESETS_AT_ONCE; i++) {
      policy.sent(frame(RST_STREAM, 0, 1, 4), 0);
    }
    assertThat(client(HEADERS, END_HEADERS, 3, 10)).isEqualTo(Http2FrameLimits.Breach.RESETS);
  }

  @Test
  void settingsAreLimitedUntilTheyAreAcknowledged() {
    for (int i = 0; i < 1000; i++) {
      assertThat(client(SETTINGS, 0, 0, 12)).isNull();
      policy.sent(frame(SETTINGS, 1, 0, 0), 0);
    }
    for (int i = 0; i < 100; i++) {
      assertThat(client(SETTINGS, 0, 0, 12)).isNull();
    }
    assertThat(client(SETTINGS, 0, 0, 12)).isEqualTo(Http2FrameLimits.Breach.SETTINGS_FLOOD);
  }

  @Test
  void settingsFrameLengthIsLimited() {
    assertThat(client(SETTINGS, 0, 0, 1200)).isEqualTo(Http2FrameLimits.Breach.SETTINGS_FLOOD);
  }
}
