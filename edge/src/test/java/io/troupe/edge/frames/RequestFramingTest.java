package io.troupe.edge.frames;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;

/** Position of a client in its HTTP/1.1 requests. */
class RequestFramingTest {
  private static final String GET = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";

  private final RequestFraming framing = new RequestFraming();

  private RequestFraming after(String text) {
    framing.received(ByteString.fromString(text));
    return framing;
  }

  /** The same bytes in chunks of every size give the same result. */
  private static void heads(String text, long heads) {
    for (int size = 1; size <= text.length(); size++) {
      RequestFraming parts = new RequestFraming();
      for (int from = 0; from < text.length(); from += size) {
        parts.received(
            ByteString.fromString(text.substring(from, Math.min(text.length(), from + size))));
      }
      assertThat(parts.heads()).as("parts of %d", size).isEqualTo(heads);
      assertThat(parts.isInHead()).as("parts of %d", size).isFalse();
    }
  }

  @Test
  void headEndsWithEmptyLine() {
    assertThat(after("GET / HTTP/1.1\r\nHost: a\r\n").isInHead()).isTrue();
    assertThat(framing.headBytes()).isEqualTo(25);
    assertThat(after("\r\n").isInHead()).isFalse();
    assertThat(framing.heads()).isEqualTo(1);
    assertThat(framing.headBytes()).isZero();
  }

  @Test
  void acceptsBareLineFeedsAndLeadingEmptyLines() {
    heads("\r\n\nGET / HTTP/1.1\nHost: a\n\n" + GET, 2);
  }

  @Test
  void bodyOfKnownLengthIsSkipped() {
    heads(
        "POST / HTTP/1.1\r\nCONTENT-length: 9\r\n\r\nA: b\r\n\r\n" + GET.substring(0, 1) + GET, 2);
    heads("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n" + GET + GET, 3);
  }

  @Test
  void chunkedBodyIsSkipped() {
    heads(
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"
            + "A;x=y\r\n0123456\r\n\r\n\r\n"
            + "2\r\n\r\n\r\n"
            + "0\r\nTrailer: x\r\n\r\n"
            + GET,
        2);
    assertThat(after("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc").isInHead())
        .isFalse();
  }

  @Test
  void http2PrefaceEndsHttp1() {
    String preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    assertThat(after(preface + GET).isOther()).isTrue();
    assertThat(framing.heads()).isEqualTo(1);
  }

  @Test
  void bytesBeforeCompleteHeadAreCounted() {
    assertThat(after("\r\n".repeat(50)).headBytes()).isEqualTo(100);
    assertThat(after("a".repeat(1000)).headBytes()).isEqualTo(1100);
  }
}
