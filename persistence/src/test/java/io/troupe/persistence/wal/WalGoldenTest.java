package io.troupe.persistence.wal;

import static io.troupe.persistence.wal.WalFixture.state;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Version 1 of the log's format stays readable and is the one that is written;
 * docs/formats/wal-record.md.
 */
class WalGoldenTest {
  private static final long SALT = 0x0123456789abcdefL;

  static final List<WalPayload> PAYLOADS =
      List.of(
          new WalPayload.SegmentStart(1, 1, 0, 0, HardState.INITIAL),
          new WalPayload.Batch(
              state(3, 0x8e9e05c52164694dL, 0),
              List.of(
                  new Entry(3, 1, Entry.Kind.NOOP, Bytes.EMPTY),
                  new Entry(3, 2, Entry.Kind.OPERATION, Bytes.utf8("put a 1")),
                  new Entry(300, 3, Entry.Kind.CONF_CHANGE, Bytes.of(0, 128, 255)))),
          new WalPayload.Batch(state(300, 0, 3), List.of()),
          new WalPayload.Compacted(2, 1, false),
          new WalPayload.Batch(
              null, List.of(new Entry(301, 3, Entry.Kind.OPERATION, Bytes.utf8("put b 2")))),
          new WalPayload.Compacted(3, 1, true),
          new WalPayload.End());

  /** Every record of {@link #PAYLOADS} with its frame, one hex line each. */
  static List<String> framed() {
    List<String> lines = new ArrayList<>();
    long sequence = 1;
    for (WalPayload payload : PAYLOADS) {
      ByteSink sink = new ByteSink();
      sink.skip(WalRecord.HEADER_BYTES);
      payload.encode(sink);
      WalRecord.seal(sink, payload.type(), sequence, sequence - 1, SALT);
      lines.add(HexFormat.of().formatHex(sink.array(), 0, sink.size()));
      sequence++;
    }
    return lines;
  }

  @Test
  void writesRecordsOfVersionOne() throws IOException {
    assertThat(framed())
        .isEqualTo(
            new String(golden("wal-records-v1.hex"), StandardCharsets.UTF_8).lines().toList());
  }

  @Test
  void readsSegmentOfVersionOne(@TempDir Path temp) throws IOException {
    Path segment = Files.createDirectory(temp.resolve("0000000000000001-4a2b8f1c09d3e576"));
    byte[] file = Base64.getMimeDecoder().decode(golden("wal-segment-v1.base64"));
    Files.write(segment.resolve(SegmentName.DATA_FILE), file);
    WalReplay replay = WalReplay.read(temp, 0);
    assertThat(replay.hardState()).isEqualTo(state(300, 0, 3));
    assertThat(replay.entries())
        .containsExactly(
            new Entry(3, 1, Entry.Kind.NOOP, Bytes.EMPTY),
            new Entry(3, 2, Entry.Kind.OPERATION, Bytes.utf8("put a 1")),
            new Entry(301, 3, Entry.Kind.OPERATION, Bytes.utf8("put b 2")));
    assertThat(replay.lastSequence()).isEqualTo(5);
    assertThat(replay.tornTail()).isNull();
  }

  private static byte[] golden(String name) throws IOException {
    try (InputStream in = WalGoldenTest.class.getResourceAsStream("/golden/" + name)) {
      assertThat(in).as(name).isNotNull();
      return in == null ? new byte[0] : in.readAllBytes();
    }
  }
}
