package io.troupe.persistence.backup;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * A part of the log in a target: committed entries; see docs/formats/backup.md.
 *
 * @param cluster cluster ID
 * @param previousTerm term of the entry before the first one; 0 if there is none
 * @param time a moment at which all these entries were applied, in milliseconds
 * @param revision current revision after the last entry; 0 if it is not known
 * @param entries contiguous, at least one; immutable
 */
public record LogPart(
    long cluster, long previousTerm, Instant time, long revision, List<Entry> entries) {
  /** Version of this format. */
  public static final int FORMAT_VERSION = 1;

  private static final int MAGIC = 0xd754424c;
  private static final int HEADER_BYTES = 4 + 4 + 6 * 8;
  private static final int ENTRY_BYTES = 8 + 1 + 4;
  private static final int CHECK_BYTES = 4;

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if the entries are not contiguous
   */
  public LogPart {
    entries = List.copyOf(entries);
    if (entries.isEmpty()) {
      throw new IllegalArgumentException("a part without entries");
    }
    long term = previousTerm;
    long index = entries.get(0).index();
    for (Entry entry : entries) {
      if (entry.index() != index || entry.term() < term) {
        throw new IllegalArgumentException(
            "entry " + entry.index() + " of term " + entry.term() + " in place of entry " + index);
      }
      term = entry.term();
      index++;
    }
  }

  /** Index of the first entry. */
  public long first() {
    return entries.get(0).index();
  }

  /** Index of the last entry. */
  public long last() {
    return entries.get(entries.size() - 1).index();
  }

  /** Term of the last entry. */
  public long lastTerm() {
    return entries.get(entries.size() - 1).term();
  }

  /**
   * The term of an entry.
   *
   * @param index of an entry of this part, or of the one before
   */
  public long termOf(long index) {
    return index == first() - 1 ? previousTerm : entries.get((int) (index - first())).term();
  }

  /** The bytes of the file. */
  byte[] encode() {
    long size = HEADER_BYTES + CHECK_BYTES;
    for (Entry entry : entries) {
      size += ENTRY_BYTES + entry.data().length();
    }
    byte[] content = new byte[Math.toIntExact(size)];
    ByteBuffer out = ByteBuffer.wrap(content);
    out.putInt(MAGIC).putInt(FORMAT_VERSION);
    out.putLong(cluster).putLong(first()).putLong(entries.size()).putLong(previousTerm);
    out.putLong(revision).putLong(time.toEpochMilli());
    for (Entry entry : entries) {
      int length = entry.data().length();
      out.putLong(entry.term()).put((byte) entry.kind().code()).putInt(length);
      out.position(entry.data().copyTo(content, out.position()));
    }
    out.putInt(check(content));
    return content;
  }

  private static int check(byte[] content) {
    CRC32C crc = new CRC32C();
    crc.update(content, 0, content.length - CHECK_BYTES);
    return (int) crc.getValue();
  }

  /**
   * Reads the result of {@link #encode}.
   *
   * @param name for the message
   * @throws BackupException if it is damaged or of another version
   */
  static LogPart decode(String name, byte[] content) {
    ByteBuffer in = ByteBuffer.wrap(content);
    if (content.length < HEADER_BYTES + CHECK_BYTES || in.getInt() != MAGIC) {
      throw new BackupException("log file " + name + ": too short, or not a log file");
    }
    if (in.getInt(content.length - CHECK_BYTES) != check(content)) {
      throw new BackupException("log file " + name + ": checksum mismatch");
    }
    int version = in.getInt();
    if (version != FORMAT_VERSION) {
      throw new BackupException(
          "log file " + name + ": format version " + version + ", known is " + FORMAT_VERSION);
    }
    try {
      return decode(in, content);
    } catch (BufferUnderflowException | IllegalArgumentException | ArithmeticException e) {
      throw new BackupException("log file " + name + ": " + e, e);
    }
  }

  private static LogPart decode(ByteBuffer in, byte[] content) {
    long cluster = in.getLong();
    long index = in.getLong();
    int count = Math.toIntExact(in.getLong());
    long previousTerm = in.getLong();
    long revision = in.getLong();
    Instant time = Instant.ofEpochMilli(in.getLong());
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long term = in.getLong();
      Entry.Kind kind = Entry.Kind.ofCode(in.get());
      int length = in.getInt();
      Bytes data = Bytes.wrap(content, in.position(), length);
      in.position(in.position() + length);
      entries.add(new Entry(term, index + i, kind, data));
    }
    if (in.remaining() != CHECK_BYTES) {
      throw new IllegalArgumentException("bytes after the last entry");
    }
    return new LogPart(cluster, previousTerm, time, revision, entries);
  }
}
