package io.troupe.grpc.http;

import java.util.Locale;
import org.apache.pekko.util.ByteString;

/**
 * Where a client of HTTP/1.1 stands in its requests, by the bytes it sent: before the end of a head
 * or in a body. Nothing is decided by it but how long a client may take: whether a request is well
 * formed is for the HTTP layer to say, which ends the connection if it is not. A line ends with LF,
 * before which one CR may stand.
 *
 * @source RFC 9112 sections 2.2, 6, 7.1
 */
final class RequestFraming {
  /** Of the beginning of a line more is never checked. */
  private static final int MOST_OF_A_LINE = 256;

  private static final String HTTP2_PREFACE = "PRI * HTTP/2.0";

  private enum Place {
    /** Nothing yet of the next request. */
    BETWEEN,
    /** In the request line or in a header. */
    HEAD,
    /** In a body of known length. */
    BODY,
    CHUNK_SIZE,
    CHUNK,
    TRAILERS,
    /** No requests of HTTP/1.1 (any more). */
    OTHER
  }

  private final StringBuilder line = new StringBuilder();
  private Place place = Place.BETWEEN;
  private boolean preface;
  private boolean chunked;
  private long length;

  /** Of the body or the chunk. */
  private long remaining;

  private long headBytes;
  private long largestHeadBytes;
  private long heads;

  /** Takes what comes next. */
  void received(ByteString part) {
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

  /** What is no number is refused by the HTTP layer. */
  private static long number(String text, int radix) {
    try {
      return Math.max(0, Long.parseLong(text, radix));
    } catch (NumberFormatException refused) {
      return 0;
    }
  }

  /** True between two requests, after the first. */
  boolean isBetween() {
    return place == Place.BETWEEN && heads > 0;
  }

  /** True in the middle of a head. */
  boolean isInHead() {
    return place == Place.HEAD;
  }

  /** True once something else than HTTP/1.1 is spoken. */
  boolean isOther() {
    return place == Place.OTHER;
  }

  /** Bytes since the end of the former request that belong to no whole head. */
  long headBytes() {
    return headBytes;
  }

  /** The most that {@link #headBytes} has been. */
  long largestHeadBytes() {
    return largestHeadBytes;
  }

  /** Heads that came to their end, the preface of HTTP/2 among them. */
  long heads() {
    return heads;
  }
}
