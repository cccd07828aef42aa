package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.actors.peers.Frames.BadFrameException;
import io.troupe.actors.peers.Frames.Frame;
import io.troupe.model.Bytes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The bytes of frames, and the memory of their bodies. */
class FramesTest {
  private static final int MAX = 1 << 20;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final Frames.Writer out = new Frames.Writer(bytes);
  private final TestBudget budget = new TestBudget();

  private static final class TestBudget implements Frames.Budget {
    private long limit = Long.MAX_VALUE;
    private long taken;
    private long mostTaken;
    private int received;

    @Override
    public boolean take(int more) {
      if (taken + more > limit) {
        return false;
      }
      taken += more;
      mostTaken = Math.max(mostTaken, taken);
      return true;
    }

    @Override
    public void release(int less) {
      taken -= less;
    }

    @Override
    public void received() {
      received++;
    }
  }

  private Frames.Reader in() {
    return new Frames.Reader(new ByteArrayInputStream(bytes.toByteArray()), budget);
  }

  private static byte[] body(int length) {
    byte[] body = new byte[length];
    new Random(length).nextBytes(body);
    return body;
  }

  @Test
  void frameHasLengthKindAndBody() throws Exception {
    out.add(Frames.MESSAGE, new byte[] {7, 8, 9});
    out.send(Frames.PING);
    assertThat(HexFormat.of().formatHex(bytes.toByteArray()))
        .isEqualTo("0000000305070809" + "0000000003");
  }

  @Test
  void framesOfAllSizesArriveInOrder() throws Exception {
    int[] lengths = {0, 1, 100, 16_384, 16_385, 65_531, 65_532, 70_000, 500_000, 3};
    for (int length : lengths) {
      out.add(Frames.MESSAGE, body(length));
    }
    out.flush();
    Frames.Reader in = in();
    for (int length : lengths) {
      assertThat(in.next(MAX)).isEqualTo(new Frame(Frames.MESSAGE, Bytes.wrap(body(length))));
      assertThat(budget.taken).isZero();
    }
    assertThat(in.next(MAX)).isNull();
    assertThat(budget.received).isGreaterThan(lengths.length);
    assertThat(budget.mostTaken).isEqualTo(500_000);
  }

  @Test
  void frameWithoutMemoryIsSkipped() throws Exception {
    out.add(Frames.MESSAGE, body(100_000));
    out.send(Frames.MESSAGE, body(10));
    budget.limit = 50_000;
    Frames.Reader in = in();
    assertThat(in.next(MAX)).isEqualTo(new Frame(Frames.MESSAGE, null));
    assertThat(budget.taken).isZero();
    assertThat(in.next(MAX)).isEqualTo(new Frame(Frames.MESSAGE, Bytes.wrap(body(10))));
  }

  /** An announced length alone takes no memory. */
  @Test
  void memoryGrowsWithReceivedBytes() throws IOException {
    bytes.write(new byte[] {0, 0x0f, 0, 0, Frames.MESSAGE});
    bytes.write(new byte[100]);
    assertThatThrownBy(() -> in().next(MAX)).isInstanceOf(EOFException.class);
    assertThat(budget.mostTaken).isEqualTo(16_384);
  }

  @Test
  void wrongLengthsAreRefused() {
    for (String length : new String[] {"ffffffff", "80000000", "00100001"}) {
      bytes.reset();
      bytes.writeBytes(HexFormat.of().parseHex(length + "05"));
      assertThatThrownBy(() -> in().next(MAX)).isInstanceOf(BadFrameException.class);
    }
    bytes.reset();
    bytes.writeBytes(new byte[] {0, 0, 0});
    assertThatThrownBy(() -> in().next(MAX)).isInstanceOf(EOFException.class);
  }
}
