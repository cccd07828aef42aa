package io.troupe.etcd.wal;

import com.google.protobuf.CodedInputStream;
import io.troupe.model.Bytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The entries of an etcd member's log above an index. Opening reads and checks all files that are
 * needed; the entries are read again one by one, so the memory is one entry, and some 40 bytes for
 * the place of each. Changes nothing on disk. One thread.
 *
 * <p>A later record wins: an entry at index i replaces all earlier entries at i and above. The
 * newest file may end with a torn record, which was never acknowledged; every other damage is an
 * error.
 */
public final class EtcdLog implements AutoCloseable {
  private static final int METADATA = 1;
  private static final int ENTRY = 2;
  private static final int STATE = 3;
  private static final int SNAPSHOT = 5;

  private final List<Segment> segments;
  private final long after;
  private final List<Place> places = new ArrayList<>();
  private @Nullable Bytes metadata;
  private long memberId;
  private long clusterId;
  private long term;
  private long commit;
  private long snapshotIndex;
  private boolean restarted;
  private long termAfter;
  private @Nullable String torn;
  private @Nullable FileChannel open;
  private int openSegment = -1;

  /** Place of the record of an entry. */
  private record Place(int segment, long position) {}

  private EtcdLog(List<Segment> segments, long after) {
    this.segments = segments;
    this.after = after;
  }

  /**
   * Reads a log.
   *
   * @param directory such as {@code member/wal}
   * @param after index whose successors are needed: what the database contains; 0 for all
   * @throws DamagedLogException if it is damaged, or lacks an entry after that index
   * @throws IOException if it cannot be read
   */
  public static EtcdLog open(Path directory, long after) throws IOException {
    EtcdLog log = new EtcdLog(Segment.needed(directory, after), after);
    log.readAll();
    return log;
  }

  private void readAll() throws IOException {
    int crc = 0;
    for (int i = 0; i < segments.size(); i++) {
      Segment segment = segments.get(i);
      try (SegmentReader reader = new SegmentReader(segment, i == segments.size() - 1, crc)) {
        for (SegmentReader.Found found = reader.next(); found != null; found = reader.next()) {
          add(i, found);
        }
        crc = reader.crc();
        torn = reader.torn();
      }
    }
    if (metadata == null) {
      throw new DamagedLogException(
          segments.get(0).file()
              + " at position 0: the record of the member and cluster is missing");
    }
    if (!restarted && commit > lastIndex()) {
      throw new DamagedLogException(
          segments.get(segments.size() - 1).file()
              + " ends with entry "
              + lastIndex()
              + ", but entry "
              + commit
              + " was committed"
              + (torn == null ? "" : "; " + torn));
    }
  }

  private void add(int segment, SegmentReader.Found found) {
    String where = segments.get(segment).file() + " at position " + found.position() + ": ";
    try {
      switch (found.type()) {
        case METADATA -> metadata(found.data(), where);
        case ENTRY -> entry(segment, found, where);
        case STATE -> {
          long[] fields = numbers(found.data(), 3);
          term = fields[1];
          commit = fields[3];
        }
        case SNAPSHOT -> {
          long[] fields = numbers(found.data(), 2);
          snapshotIndex = Math.max(snapshotIndex, fields[1]);
          restarted |= fields[1] > lastIndex();
          if (fields[1] == after) {
            termAfter = fields[2];
          }
        }
        default -> throw new DamagedLogException(where + "a record of type " + found.type());
      }
    } catch (IOException e) {
      throw new DamagedLogException(where + "malformed record: " + e.getMessage());
    }
  }

  private void metadata(Bytes data, String where) throws IOException {
    if (metadata != null && !metadata.equals(data)) {
      throw new DamagedLogException(where + "the record of another member or cluster");
    }
    metadata = data;
    long[] fields = numbers(data, 2);
    memberId = fields[1];
    clusterId = fields[2];
  }

  private void entry(int segment, SegmentReader.Found found, String where) throws IOException {
    EtcdEntry entry = decode(found.data());
    if (restarted) {
      return;
    }
    long offset = entry.index() - after - 1;
    if (offset < 0) {
      if (entry.index() == after) {
        termAfter = entry.term();
      }
      // Replaces what follows, which was not committed.
      places.clear();
      return;
    }
    if (offset > places.size()) {
      throw new DamagedLogException(
          where
              + "entry "
              + entry.index()
              + " does not follow entry "
              + (after + places.size())
              + (places.isEmpty() ? ", the last one that the database contains" : ""));
    }
    while (places.size() > offset) {
      places.remove(places.size() - 1);
    }
    places.add(new Place(segment, found.position()));
  }

  private static long[] numbers(Bytes message, int most) throws IOException {
    long[] fields = new long[most + 1];
    CodedInputStream in = input(message);
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      if (tag >>> 3 <= most && (tag & 7) == 0) {
        fields[tag >>> 3] = in.readUInt64();
      } else {
        in.skipField(tag);
      }
    }
    return fields;
  }

  private static EtcdEntry decode(Bytes message) throws IOException {
    long[] fields = new long[4];
    Bytes data = Bytes.EMPTY;
    CodedInputStream in = input(message);
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag >>> 3) {
        case 1, 2, 3 -> fields[tag >>> 3] = in.readUInt64();
        case 4 -> data = Bytes.wrap(in.readByteArray());
        default -> in.skipField(tag);
      }
    }
    EtcdEntry.Kind[] kinds = EtcdEntry.Kind.values();
    if (fields[1] < 0 || fields[1] >= kinds.length || fields[2] < 1 || fields[3] < 1) {
      throw new IOException(
          "entry of type " + fields[1] + ", term " + fields[2] + ", index " + fields[3]);
    }
    return new EtcdEntry(fields[2], fields[3], kinds[(int) fields[1]], data);
  }

  private static CodedInputStream input(Bytes message) {
    return CodedInputStream.newInstance(
        message.backingArray(), message.backingOffset(), message.length());
  }

  /** Id of the member that wrote the log. */
  public long memberId() {
    return memberId;
  }

  /** Id of its cluster. */
  public long clusterId() {
    return clusterId;
  }

  /** Newest term that the member knew. */
  public long term() {
    return term;
  }

  /**
   * Greatest index that the member knew to be committed when it last wrote; entries above it may be
   * committed and acknowledged too.
   */
  public long commit() {
    return commit;
  }

  /** Index of the last entry; the index that was passed to {@link #open} if there is none. */
  public long lastIndex() {
    return after + places.size();
  }

  /** Term of the entry at the index that was passed to {@link #open}; 0 if the log lacks it. */
  public long termAfter() {
    return termAfter;
  }

  /**
   * Index of the newest snapshot that the log mentions. If it is above {@link #lastIndex}, the
   * member received it from another one, and the log continues after it; those entries are not
   * counted.
   */
  public long snapshotIndex() {
    return snapshotIndex;
  }

  /** Where a torn tail begins; null if the log ends properly. */
  public @Nullable String torn() {
    return torn;
  }

  /**
   * Reads an entry.
   *
   * @param index above the index that was passed to {@link #open}, up to {@link #lastIndex}
   */
  public EtcdEntry entry(long index) throws IOException {
    Place place = places.get((int) (index - after - 1));
    if (place.segment() != openSegment) {
      close();
      open = FileChannel.open(segments.get(place.segment()).file(), StandardOpenOption.READ);
      openSegment = place.segment();
    }
    // The record was checked when the log was opened.
    long length = read(place.position(), Long.BYTES).getLong() & ~(0xffL << 56);
    ByteBuffer record = read(place.position() + Long.BYTES, (int) length);
    CodedInputStream in = CodedInputStream.newInstance(record);
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      if (tag >>> 3 == 3) {
        return decode(Bytes.wrap(in.readByteArray()));
      }
      in.skipField(tag);
    }
    throw new DamagedLogException(
        segments.get(place.segment()).file() + " changed while it was read");
  }

  private ByteBuffer read(long position, int bytes) throws IOException {
    FileChannel channel = open;
    if (channel == null) {
      throw new IllegalStateException("no open file");
    }
    ByteBuffer in = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (in.hasRemaining()) {
      if (channel.read(in, position + in.position()) < 0) {
        throw new DamagedLogException(
            segments.get(openSegment).file() + " became shorter while it was read");
      }
    }
    return in.flip();
  }

  @Override
  public void close() {
    FileChannel channel = open;
    open = null;
    openSegment = -1;
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
