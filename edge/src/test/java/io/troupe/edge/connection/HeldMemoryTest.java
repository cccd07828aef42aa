package io.troupe.edge.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.edge.frames.Http2FrameLimits;
import io.troupe.edge.frames.ResetRate;
import io.troupe.model.MemoryBudget;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The memory of calls is released with their stream or their connection, and not later. */
class HeldMemoryTest {
  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int RST_STREAM = 3;
  private static final int CONTINUATION = 9;
  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;
  private static final long LARGE = 1 << 20;

  private final MemoryBudget budget = new MemoryBudget(100 * LARGE, 0);
  private final MemoryBudget.Holder holder = budget.holder();
  private final Http2FrameLimits policy =
      new Http2FrameLimits(false, 0, new ResetRate(10, 10), holder.share(), stream -> {});

  HeldMemoryTest() {
    policy.received(
        ByteBuffer.wrap("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII)), 0);
  }

  private static ByteBuffer frame(int type, int flags, int stream, int length) {
    ByteBuffer out = ByteBuffer.allocate(9 + length);
    out.put((byte) (length >> 16)).putShort((short) length);
    out.put((byte) type).put((byte) flags).putInt(stream);
    return out.rewind();
  }

  private void call(int stream) {
    policy.received(frame(HEADERS, END_STREAM | END_HEADERS, stream, 10), 0);
    MemoryBudget.Share share = holder.share();
    policy.holds(stream, share);
    share.take(LARGE);
  }

  @Test
  void responseIsHeldUntilItsEndIsSent() {
    call(1);
    policy.sent(frame(HEADERS, END_HEADERS, 1, 10), 0);
    policy.sent(frame(0, 0, 1, 1000), 0);
    assertThat(budget.taken()).isEqualTo(LARGE);
    policy.sent(frame(HEADERS, END_STREAM | END_HEADERS, 1, 10), 0);
    assertThat(budget.taken()).isZero();
  }

  @Test
  void resetReleasesWhatTheStreamHolds() {
    call(1);
    call(3);
    policy.received(frame(RST_STREAM, 0, 3, 4), 0);
    assertThat(budget.taken()).isEqualTo(LARGE);
    policy.sent(frame(RST_STREAM, 0, 1, 4), 0);
    assertThat(budget.taken()).isZero();
  }

  @Test
  void connectionReleasesWhatItsStreamsHold() {
    for (int stream = 1; stream < 100; stream += 2) {
      call(stream);
    }
    assertThat(budget.taken()).isGreaterThanOrEqualTo(50 * LARGE);
    policy.closed();
    assertThat(budget.taken()).isZero();
    assertThat(holder.held()).isZero();
  }

  @Test
  void callOfEndedStreamHoldsNothing() {
    policy.received(frame(HEADERS, END_STREAM | END_HEADERS, 1, 10), 0);
    policy.received(frame(RST_STREAM, 0, 1, 4), 0);
    MemoryBudget.Share share = holder.share();
    policy.holds(1, share);
    share.shrinkTo(LARGE);
    assertThat(budget.taken()).isZero();
  }

  @Test
  void openStreamsAreCountedUntilBothSidesHaveEndedThem() {
    for (int stream = 1; stream < 8192; stream += 2) {
      policy.received(frame(HEADERS, END_HEADERS, stream, 10), 0);
    }
    assertThat(budget.taken()).isBetween(4096 * 2048L, 4096 * 4096L);
    long open = budget.taken();
    for (int stream = 1; stream < 8192; stream += 2) {
      policy.sent(frame(HEADERS, END_STREAM | END_HEADERS, stream, 10), 0);
    }
    assertThat(budget.taken()).as("the HTTP layer keeps their headers").isEqualTo(open);
    for (int stream = 1; stream < 8192; stream += 2) {
      policy.received(frame(DATA, END_STREAM, stream, 0), 0);
    }
    assertThat(budget.taken()).isLessThanOrEqualTo(128 << 10);
  }

  @Test
  void headersAreCountedAsTheHttpLayerHoldsThem() {
    for (int stream = 1; stream < 200; stream += 2) {
      policy.received(frame(HEADERS, 0, stream, 10_000), 0);
      policy.received(frame(CONTINUATION, END_HEADERS, stream, 10_000), 0);
    }
    assertThat(budget.taken()).isGreaterThanOrEqualTo(100 * 20_000 * 34L);
    policy.received(frame(RST_STREAM, 0, 1, 4), 0);
    for (int stream = 3; stream < 200; stream += 2) {
      policy.sent(frame(HEADERS, END_STREAM | END_HEADERS, stream, 10), 0);
      policy.received(frame(DATA, END_STREAM, stream, 0), 0);
    }
    assertThat(budget.taken()).isLessThanOrEqualTo(128 << 10);
  }

  @Test
  void largeHeadersCloseConnectionWhenMemoryIsExhausted() {
    Http2FrameLimits.Breach breach = null;
    int streams = 0;
    while (breach == null && streams < 4096) {
      breach = policy.received(frame(HEADERS, END_HEADERS, 2 * streams + 1, 16_000), 0);
      streams++;
    }
    assertThat(breach).isEqualTo(Http2FrameLimits.Breach.MEMORY);
    assertThat(streams).isLessThan(200);
    policy.closed();
    assertThat(budget.taken()).isZero();
  }

  @Test
  void manyStreamsCloseConnectionWhileMemoryIsShort() {
    budget.holder().share().take(100 * LARGE);
    Http2FrameLimits.Breach breach = null;
    int streams = 0;
    while (breach == null && streams < 4096) {
      breach = policy.received(frame(HEADERS, END_HEADERS, 2 * streams + 1, 10), 0);
      streams++;
    }
    assertThat(breach).isEqualTo(Http2FrameLimits.Breach.MEMORY);
  }

  @Test
  void callOverHttp11IsHeldUntilItIsSentOrTheConnectionCloses() {
    ConnectionState connection = new ConnectionState(holder);
    MemoryBudget.Share first = connection.share(ConnectionState.NO_STREAM);
    MemoryBudget.Share second = connection.share(ConnectionState.NO_STREAM);
    first.take(LARGE);
    second.take(LARGE);
    connection.sent(first);
    assertThat(budget.taken()).isEqualTo(LARGE);
    connection.closed();
    assertThat(budget.taken()).isZero();
    MemoryBudget.Share late = connection.share(ConnectionState.NO_STREAM);
    late.shrinkTo(LARGE);
    assertThat(budget.taken()).isZero();
  }
}
