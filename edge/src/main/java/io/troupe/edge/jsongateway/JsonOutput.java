package io.troupe.edge.jsongateway;

import io.troupe.model.MemoryBudget;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.util.ByteString;

/**
 * Encodes text to UTF-8 in pieces, and counts each piece before it is allocated: a JSON response
 * never exists as one string. Not thread-safe.
 */
final class JsonOutput implements Appendable {
  private static final int PIECE_CHARS = 32 << 10;

  private final MemoryBudget.Share memory;
  private final List<ByteString> pieces = new ArrayList<>();
  private final StringBuilder text = new StringBuilder();
  private long bytes;

  /**
   * Starts an empty output.
   *
   * @param memory counts the pieces; {@link MemoryBudget.Exceeded} stops the output
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

  /** Encodes the buffered text, except for the first half of an incomplete character. */
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

  /** All output, in pieces; must be called once, at the end. */
  List<ByteString> pieces() {
    flush();
    return pieces;
  }

  /** Size of all pieces. */
  long bytes() {
    return bytes;
  }
}
