package io.troupe.actors.peers;

import io.troupe.model.Bytes;
import io.troupe.protocol.PeerFragment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Puts the pieces of one sender's messages together, one message at a time. A message with a gap is
 * dropped; memory grows with what has come, not with what was announced.
 */
final class FragmentAssembly {
  private static final int FIRST_BYTES = 512 << 10;

  private final int maxMessageBytes;
  private long message;
  private byte[] gathered = new byte[0];
  private int length;
  private boolean broken = true;

  FragmentAssembly(int maxMessageBytes) {
    this.maxMessageBytes = maxMessageBytes;
  }

  /** The whole message if this was its last piece, else null. */
  @Nullable Bytes add(PeerFragment piece) {
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
    gathered = broken ? new byte[0] : new byte[Math.min(piece.total(), FIRST_BYTES)];
  }

  private void drop() {
    broken = true;
    gathered = new byte[0];
    length = 0;
  }
}
