package io.troupe.etcd.wal;

import com.google.protobuf.CodedOutputStream;
import io.troupe.model.Bytes;
import io.troupe.mvcc.Crc32cJoin;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/** Writes a log in etcd's form. */
final class LogFixture {
  static final long MEMBER = 0x8e9e05c52164694dL;
  static final long CLUSTER = 0xcdf818194e3a8c32L;

  private final Path directory;
  private ByteArrayOutputStream file = new ByteArrayOutputStream();
  private long number;
  private long firstIndex;
  private long lastIndex;
  private int crc;

  LogFixture(Path directory) throws IOException {
    this.directory = directory;
    record(4, 0, Bytes.EMPTY);
    metadata();
    record(5, message(0, 0));
  }

  private void metadata() throws IOException {
    record(1, message(MEMBER, CLUSTER));
  }

  /** Ends the file and begins the next one. */
  LogFixture cut() throws IOException {
    save();
    number++;
    firstIndex = lastIndex + 1;
    file = new ByteArrayOutputStream();
    record(4, crc, Bytes.EMPTY);
    metadata();
    return this;
  }

  LogFixture entry(long term, long index, String data) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.writeUInt64(1, 0);
    out.writeUInt64(2, term);
    out.writeUInt64(3, index);
    out.writeByteArray(4, Bytes.utf8(data).toArray());
    out.flush();
    lastIndex = index;
    return record(2, Bytes.wrap(bytes.toByteArray()));
  }

  LogFixture state(long term, long commit) throws IOException {
    return record(3, message(term, MEMBER, commit));
  }

  LogFixture snapshot(long index, long term) throws IOException {
    return record(5, message(index, term));
  }

  private static Bytes message(long... fields) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    for (int i = 0; i < fields.length; i++) {
      out.writeUInt64(i + 1, fields[i]);
    }
    out.flush();
    return Bytes.wrap(bytes.toByteArray());
  }

  LogFixture record(int type, Bytes data) throws IOException {
    CRC32C sum = new CRC32C();
    sum.update(data.toArray());
    crc = Crc32cJoin.join(crc, (int) sum.getValue(), data.length());
    return record(type, crc, data);
  }

  private LogFixture record(int type, int sum, Bytes data) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.writeInt64(1, type);
    out.writeUInt32(2, sum);
    if (!data.isEmpty()) {
      out.writeByteArray(3, data.toArray());
    }
    out.flush();
    int padding = (8 - bytes.size() % 8) % 8;
    long length = bytes.size();
    if (padding > 0) {
      length |= (0x80L | padding) << 56;
    }
    ByteBuffer frame = ByteBuffer.allocate(8 + bytes.size() + padding);
    frame.order(ByteOrder.LITTLE_ENDIAN).putLong(length).put(bytes.toByteArray());
    file.writeBytes(frame.array());
    return this;
  }

  /** Bytes of the current file. */
  int size() {
    return file.size();
  }

  /** Writes the current file; returns it. */
  Path save() throws IOException {
    Path path = directory.resolve("%016x-%016x.wal".formatted(number, firstIndex));
    Files.write(path, file.toByteArray());
    return path;
  }
}
