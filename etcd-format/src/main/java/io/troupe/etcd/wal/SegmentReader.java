package io.troupe.etcd.wal;

import com.google.protobuf.CodedInputStream;
import io.troupe.model.Bytes;
import io.troupe.mvcc.Crc32cJoin;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads the records of one file in order and checks their checksums, which continue from record to
 * record. Memory: one record. One thread.
 */
final class SegmentReader implements AutoCloseable {
  private static final int FRAME_BYTES = 8;
  private static final int SECTOR_BYTES = 512;
  private static final int BUFFER_BYTES = 1 << 16;

  /** Longest record that is read; etcd's largest setting of a request is far below. */
  private static final long MOST_RECORD_BYTES = 256L << 20;

  private static final int CRC = 4;

  private final Segment segment;
  private final boolean newest;
  private final long size;
  private final InputStream in;
  private long position;

  /** Length of the record that {@link #frame} returned last. */
  private int recordBytes;

  /** Checksum at the last record of kind CRC; the bytes since then are in {@link #since}. */
  private int before;

  private final CRC32C since = new CRC32C();
  private int sinceBytes;
  private @Nullable String torn;

  /**
   * A record.
   *
   * @param position of its frame in the file
   */
  record Found(long position, int type, Bytes data) {}

  /**
   * Opens a file.
   *
   * @param newest true for the last file of the log, which may have a torn tail
   * @param crc checksum at the end of the file before; 0 if it was not read
   */
  SegmentReader(Segment segment, boolean newest, int crc) throws IOException {
    this.segment = segment;
    this.newest = newest;
    this.before = crc;
    this.size = Files.size(segment.file());
    this.in = new BufferedInputStream(Files.newInputStream(segment.file()), BUFFER_BYTES);
  }

  /** The checksum up to the last record. */
  int crc() {
    return Crc32cJoin.join(before, (int) since.getValue(), sinceBytes);
  }

  /** Where a torn tail begins and why it is one; null if the file ends properly. */
  @Nullable String torn() {
    return torn;
  }

  /**
   * Reads the next record other than a checksum; null at the end of the records.
   *
   * @throws DamagedLogException if a record is damaged that a torn write does not explain
   */
  @Nullable Found next() throws IOException {
    while (true) {
      long at = position;
      byte[] content = frame();
      if (content == null) {
        return null;
      }
      Found found = decoded(at, content);
      if (found == null || found.type() != CRC) {
        return found;
      }
    }
  }

  /** Reads a record with its padding, in an array that ends with the padding. Null at the end. */
  private byte @Nullable [] frame() throws IOException {
    byte[] head = in.readNBytes(FRAME_BYTES);
    if (head.length == 0) {
      return null;
    }
    if (head.length < FRAME_BYTES) {
      return torn("the length of a record is incomplete");
    }
    long field = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getLong();
    if (field == 0) {
      // Space that is allocated but not used yet.
      return null;
    }
    long record = field & ~(0xffL << 56);
    int padding = field < 0 ? (int) (field >>> 56) & 7 : 0;
    if (record > size - position - padding) {
      return torn("a record of " + record + " bytes ends after the file");
    }
    if (record > MOST_RECORD_BYTES) {
      throw damaged("a record of " + record + " bytes");
    }
    byte[] content = in.readNBytes((int) record + padding);
    if (content.length < record + padding) {
      return torn("a record is incomplete");
    }
    recordBytes = (int) record;
    return content;
  }

  private @Nullable Found decoded(long at, byte[] content) {
    int type = 0;
    int expected = 0;
    Bytes data = Bytes.EMPTY;
    try {
      CodedInputStream fields = CodedInputStream.newInstance(content, 0, recordBytes);
      for (int tag = fields.readTag(); tag != 0; tag = fields.readTag()) {
        switch (tag >>> 3) {
          case 1 -> type = (int) fields.readInt64();
          case 2 -> expected = fields.readUInt32();
          case 3 -> data = Bytes.wrap(fields.readByteArray());
          default -> fields.skipField(tag);
        }
      }
    } catch (IOException e) {
      return damagedUnlessTorn(content, "malformed record: " + e.getMessage());
    }
    if (type == CRC) {
      int crc = crc();
      if (crc != 0 && crc != expected) {
        throw damaged(mismatch(expected, crc));
      }
      before = expected;
      since.reset();
      sinceBytes = 0;
    } else {
      since.update(data.backingArray(), data.backingOffset(), data.length());
      sinceBytes = Math.addExact(sinceBytes, data.length());
      int crc = crc();
      if (crc != expected) {
        return damagedUnlessTorn(content, mismatch(expected, crc));
      }
    }
    position += FRAME_BYTES + content.length;
    return new Found(at, type, data);
  }

  private static String mismatch(int expected, int found) {
    return "checksum mismatch: expected: "
        + Integer.toHexString(expected)
        + " computed: "
        + Integer.toHexString(found);
  }

  private @Nullable Found damagedUnlessTorn(byte[] content, String what) {
    if (!newest || !hasZeroSector(content)) {
      throw damaged(what);
    }
    torn = at(what);
    return null;
  }

  /**
   * True if a sector of the record is zero: the disk wrote the others, and was interrupted (etcd's
   * criterion of a torn write).
   */
  private boolean hasZeroSector(byte[] content) {
    long offset = position + FRAME_BYTES;
    for (int from = 0; from < content.length; ) {
      int to = (int) Math.min(content.length, from + SECTOR_BYTES - (offset + from) % SECTOR_BYTES);
      boolean zero = true;
      for (int i = from; i < to; i++) {
        zero &= content[i] == 0;
      }
      if (zero) {
        return true;
      }
      from = to;
    }
    return false;
  }

  private byte @Nullable [] torn(String what) {
    if (!newest) {
      throw damaged(what);
    }
    torn = at(what);
    return null;
  }

  private DamagedLogException damaged(String what) {
    return new DamagedLogException(at(what));
  }

  private String at(String what) {
    return segment.file() + " at position " + position + ": " + what;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
