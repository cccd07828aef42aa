package io.troupe.persistence.wal;

import io.troupe.model.Bytes;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The frame of each record; see docs/formats/wal-record.md. Chronicle has no checksums and its own
 * framing can be damaged with the data, so this frame is sufficient to find and to check every
 * record.
 *
 * @param type one of {@link WalPayload}'s codes
 * @param sequence number of the record, counted from 1 over the whole log, without gaps
 * @param forced highest record number that was forced when this one was written
 * @param payload the content
 */
record WalRecord(int type, long sequence, long forced, Bytes payload) {
  static final int MAGIC = 0xD7545741;
  static final int VERSION = 1;

  /** Bytes of the frame before the payload. */
  static final int HEADER_BYTES = 36;

  private static final int LENGTH_AT = 8;
  private static final int SEQUENCE_AT = 12;
  private static final int FORCED_AT = 20;
  private static final int PAYLOAD_CRC_AT = 28;
  private static final int HEADER_CRC_AT = 32;

  /**
   * A checked header.
   *
   * @param length bytes of the payload, 0 or more
   */
  record Header(int version, int type, int length, long sequence, long forced, int payloadCrc) {}

  /**
   * Fills in the frame of a record whose payload is in {@code sink} from {@link #HEADER_BYTES} on.
   *
   * @param salt salt of the segment: a record copied from another segment is invalid in this one
   */
  static void seal(ByteSink sink, int type, long sequence, long forced, long salt) {
    int length = sink.size() - HEADER_BYTES;
    sink.putInt(0, MAGIC);
    sink.putInt(4, VERSION << 24 | type << 16);
    sink.putInt(LENGTH_AT, length);
    sink.putLong(SEQUENCE_AT, sequence);
    sink.putLong(FORCED_AT, forced);
    sink.putInt(PAYLOAD_CRC_AT, crc(salt, sink.array(), HEADER_BYTES, length));
    sink.putInt(HEADER_CRC_AT, crc(salt, sink.array(), 0, HEADER_CRC_AT));
  }

  /** Returns the header at {@code at}, or null if there is no complete one. */
  static @Nullable Header header(byte[] bytes, int at, long salt) {
    if (ByteSource.intAt(bytes, at) != MAGIC
        || ByteSource.intAt(bytes, at + HEADER_CRC_AT) != crc(salt, bytes, at, HEADER_CRC_AT)) {
      return null;
    }
    Header header =
        new Header(
            bytes[at + 4] & 0xff,
            bytes[at + 5] & 0xff,
            ByteSource.intAt(bytes, at + LENGTH_AT),
            ByteSource.longAt(bytes, at + SEQUENCE_AT),
            ByteSource.longAt(bytes, at + FORCED_AT),
            ByteSource.intAt(bytes, at + PAYLOAD_CRC_AT));
    return header.length() >= 0 ? header : null;
  }

  static int crc(long salt, byte[] bytes, int at, int length) {
    CRC32C crc = new CRC32C();
    for (int shift = 56; shift >= 0; shift -= 8) {
      crc.update((int) (salt >>> shift));
    }
    crc.update(bytes, at, length);
    return (int) crc.getValue();
  }
}
