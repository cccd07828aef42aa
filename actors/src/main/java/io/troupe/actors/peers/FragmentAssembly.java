package io.troupe.actors.peers;

import io.troupe.model.Bytes;
import io.troupe.protocol.PeerFragment;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Puts the pieces of one sender's messages together, one message at a time. A message with a gap is
 * dropped; memory grows with what has come, not with what was announced, and is taken from a part
 * that all senders share.
 */
final class FragmentAssembly {
  private final int maxMessageBytes;
  private final PeerMemory.Part memory;
  private long message;
  private byte[] gathered = new byte[0];
  private int length;
  private boolean broken = true;
  private long lastNanos;

  FragmentAssembly(int maxMessageBytes, PeerMemory.Part memory) {
    this.maxMessageBytes = maxMessageBytes;
    this.memory = memory;
  }

  /** True if a message was begun and nothing came of it since. */
  boolean isStale(long nowNanos, Duration timeout) {
    return length > 0 && nowNanos - lastNanos >= timeout.toNanos();
  }

  /** Memory that the message takes so far. */
  int heldBytes() {
    return gathered.length;
  }

  /** When its last piece came; a monotonic reading. */
  long lastNanos() {
    return lastNanos;
  }

  /** Memory that a piece takes in addition; 0 if it fits or will be dropped. */
  int needs(PeerFragment piece) {
    if (piece.offset() == 0) {
      return piece.total() > maxMessageBytes ? 0 : piece.data().length();
    }
    return isNext(piece) ? grown(piece) - gathered.length : 0;
  }

  private boolean isNext(PeerFragment piece) {
    return !broken && piece.message() == message && piece.offset() == length;
  }

  /** Doubles, so that few pieces pay for copying. */
  private int grown(PeerFragment piece) {
    int end = length + piece.data().length();
    return end <= gathered.length
        ? gathered.length
        : (int) Math.min(piece.total(), Math.max(end, 2L * length));
  }

  /**
   * The whole message if this was its last piece, else null.
   *
   * @param piece {@link #needs} of it has been taken from the memory
   * @param nowNanos a monotonic reading
   */
  @Nullable Bytes add(PeerFragment piece, long nowNanos) {
    lastNanos = nowNanos;
    if (piece.offset() == 0) {
      begin(piece);
    }
    if (!isNext(piece)) {
      drop();
      return null;
    }
    int end = length + piece.data().length();
    if (end > gathered.length) {
      gathered = Arrays.copyOf(gathered, grown(piece));
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
    drop();
    broken = piece.total() > maxMessageBytes;
  }

  /** Drops what came of the message, and what comes of it later. */
  void drop() {
    broken = true;
    memory.change(-gathered.length);
    gathered = new byte[0];
    length = 0;
  }
}
