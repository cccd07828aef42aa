package io.troupe.grpc.http;

import io.troupe.model.MemoryBudget;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.util.ByteString;

/**
 * Text that becomes UTF-8 in pieces, each counted before it is made: a response in JSON never
 * exists as one string. Not thread-safe.
 */
final class JsonOutput implements Appendable {
  private static final int PIECE_CHARS = 32 << 10;

  private final MemoryBudget.Share memory;
  private final List<ByteString> pieces = new ArrayList<>();
  private final StringBuilder text = new StringBuilder();
  private long bytes;

  /**
   * Nothing yet.
   *
   * @param memory counts the pieces; {@link MemoryBudget.Exceeded} ends the output
   */
  JsonOutput(MemoryBudget.Share memory) {
    this.memory = memory;
  }

  @Override
  public JsonOutput append(CharSequence more) {
    return append(more, 0, more.length());
  }

  @Override
  public JsonOutput append(CharSequence more, int start, int end) {
    for (int from = start; from < end; from += PIECE_CHARS) {
      text.append(more, from, Math.min(end, from + PIECE_CHARS));
      if (text.length() >= PIECE_CHARS) {
        flush();
      }
    }
    return this;
  }

  @Override
  public JsonOutput append(char more) {
    text.append(more);
    return this;
  }

  /** Leaves the first half of a character that is not complete. */
  private void flush() {
    int end = text.length();
    if (end > 0 && Character.isHighSurrogate(text.charAt(end - 1))) {
      end--;
    }
    if (end == 0) {
      return;
    }
    byte[] piece = text.substring(0, end).getBytes(StandardCharsets.UTF_8);
    text.delete(0, end);
    if (!pieces.isEmpty()) {
      memory.take(piece.length);
    }
    bytes += piece.length;
    pieces.add(ByteString.fromArrayUnsafe(piece));
  }

  /** Everything so far, in pieces; to be called once, at the end. */
  List<ByteString> pieces() {
    flush();
    return pieces;
  }

  /** Bytes of all pieces. */
  long bytes() {
    return bytes;
  }
}
