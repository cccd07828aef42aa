package io.troupe.edge.frames;

import java.util.Locale;
import org.apache.pekko.util.ByteString;

/**
 * Tracks the position of an HTTP/1.1 client in its requests by the bytes that it sent: before the
 * end of a head or in a body. It decides only time limits of the client. The HTTP layer checks
 * whether a request is well formed and closes the connection if it is not. A line ends with LF,
 * which one CR may precede.
 *
 * @source RFC 9112 sections 2.2, 6, 7.1
 */
public final class RequestFraming {
  /** Bytes of a line that are kept; more are never needed. */
  private static final int MOST_OF_A_LINE = 256;

  private static final String HTTP2_PREFACE = "PRI * HTTP/2.0";

  private enum Place {
    /** No byte of the next request yet. */
    BETWEEN,
    /** In the request line or in a header. */
    HEAD,
    /** In a body of known length. */
    BODY,
    CHUNK_SIZE,
    CHUNK,
    TRAILERS,
    /** Another protocol than HTTP/1.1. */
    OTHER
  }

  private final StringBuilder line = new StringBuilder();
  private Place place = Place.BETWEEN;
  private boolean preface;
  private boolean chunked;
  private long length;

  /** Bytes left of the body or the chunk. */
  private long remaining;

  private long headBytes;
  private long largestHeadBytes;
  private long heads;

  /** Processes the next bytes. */
  public void received(ByteString part) {
    int size = part.size();
    for (int i = 0; i < size && place != Place.OTHER; ) {
      if (place == Place.BODY || place == Place.CHUNK) {
        int skipped = (int) Math.min(remaining, size - i);
        i += skipped;
        remaining -= skipped;
        if (remaining == 0) {
          place = place == Place.BODY ? Place.BETWEEN : Place.CHUNK_SIZE;
        }
      } else {
        take(part.apply(i));
        i++;
      }
    }
  }

  private void take(byte next) {
    if (place == Place.BETWEEN || place == Place.HEAD) {
      headBytes++;
      largestHeadBytes = Math.max(largestHeadBytes, headBytes);
    }
    if (next != '\n') {
      if (line.length() < MOST_OF_A_LINE) {
        line.append((char) (next & 0xff));
      }
      if (place == Place.BETWEEN && next != '\r') {
        begin();
      }
      return;
    }
    int end = line.length() - 1;
    if (end >= 0 && line.charAt(end) == '\r') {
      line.setLength(end);
    }
    lineEnded(line.toString());
    line.setLength(0);
  }

  private void begin() {
    place = Place.HEAD;
    preface = false;
    chunked = false;
    length = 0;
  }

  private void lineEnded(String text) {
    switch (place) {
      case HEAD -> {
        if (text.isEmpty()) {
          headEnded();
        } else if (text.equals(HTTP2_PREFACE)) {
          preface = true;
        } else {
          header(text.toLowerCase(Locale.ROOT));
        }
      }
      case CHUNK_SIZE -> {
        // The line end after a chunk is empty.
        if (!text.isEmpty()) {
          remaining = chunkSize(text);
          place = remaining == 0 ? Place.TRAILERS : Place.CHUNK;
        }
      }
      case TRAILERS -> {
        if (text.isEmpty()) {
          place = Place.BETWEEN;
        }
      }
      default -> {
        // Empty lines before a request.
      }
    }
  }

  private void header(String text) {
    if (text.startsWith("transfer-encoding:")) {
      chunked |= text.contains("chunked");
    } else if (text.startsWith("content-length:")) {
      length = number(text.substring("content-length:".length()).trim(), 10);
    }
  }

  private void headEnded() {
    heads++;
    headBytes = 0;
    if (preface) {
      place = Place.OTHER;
    } else if (chunked) {
      place = Place.CHUNK_SIZE;
    } else if (length > 0) {
      remaining = length;
      place = Place.BODY;
    } else {
      place = Place.BETWEEN;
    }
  }

  private static long chunkSize(String text) {
    int extension = text.indexOf(';');
    return number((extension < 0 ? text : text.substring(0, extension)).trim(), 16);
  }

  /** The HTTP layer rejects an invalid number. */
  private static long number(String text, int radix) {
    try {
      return Math.max(0, Long.parseLong(text, radix));
    } catch (NumberFormatException refused) {
      return 0;
    }
  }

  /** True between two requests, after the first. */
  public boolean isBetween() {
    return place == Place.BETWEEN && heads > 0;
  }

  /** True inside a head. */
  public boolean isInHead() {
    return place == Place.HEAD;
  }

  /** True once the client uses another protocol than HTTP/1.1. */
  public boolean isOther() {
    return place == Place.OTHER;
  }

  /** Bytes since the end of the previous request that do not belong to a complete head. */
  public long headBytes() {
    return headBytes;
  }

  /** The maximum of {@link #headBytes} so far. */
  public long largestHeadBytes() {
    return largestHeadBytes;
  }

  /** Number of complete heads, including the preface of HTTP/2. */
  public long heads() {
    return heads;
  }
}
