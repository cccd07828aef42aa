package io.troupe.actors.peers;

import io.troupe.model.Bytes;
import io.troupe.protocol.PeerFragment;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Puts the pieces of one sender's messages together, one message at a time. A message with a gap is
 * dropped; memory grows with what has come, not with what was announced.
 */
final class FragmentAssembly {
  private final int maxMessageBytes;
  private long message;
  private byte[] gathered = new byte[0];
  private int length;
  private boolean broken = true;
  private long lastNanos;

  FragmentAssembly(int maxMessageBytes) {
    this.maxMessageBytes = maxMessageBytes;
  }

  /** True if a message was begun and nothing came of it since. */
  boolean isStale(long nowNanos, Duration patience) {
    return length > 0 && nowNanos - lastNanos >= patience.toNanos();
  }

  /**
   * The whole message if this was its last piece, else null.
   *
   * @param nowNanos a monotonic reading
   */
  @Nullable Bytes add(PeerFragment piece, long nowNanos) {
    lastNanos = nowNanos;
    if (piece.offset() == 0) {
      begin(piece);
    }
    if (broken || piece.message() != message || piece.offset() != length) {
      drop();
      return null;
    }
    int end = length + piece.data().length();
    if (end > gathered.length) {
      gathered = Arrays.copyOf(gathered, (int) Math.min(piece.total(), Math.max(end, 2L * length)));
    }
    piece.data().copyTo(gathered, length);
    length = end;
    if (end < piece.total()) {
      return null;
    }
    Bytes whole = Bytes.wrap(gathered, 0, length);
    drop();
    return whole;
  }

  private void begin(PeerFragment piece) {
    message = piece.message();
    length = 0;
    broken = piece.total() > maxMessageBytes;
    gathered = new byte[0];
  }

  private void drop() {
    broken = true;
    gathered = new byte[0];
    length = 0;
  }
}
