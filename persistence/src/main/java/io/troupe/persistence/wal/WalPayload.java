package io.troupe.persistence.wal;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Content of a record; see docs/formats/wal-record.md. The type codes are on disk. */
sealed interface WalPayload {
  int TYPE_SEGMENT = 1;
  int TYPE_BATCH = 2;
  int TYPE_COMPACTED = 3;
  int TYPE_END = 4;

  /** Type code in the record header. */
  int type();

  /** Appends the payload's bytes. */
  void encode(ByteSink sink);

  /**
   * First record of a segment: everything from older segments that must outlive them.
   *
   * @param number number of this segment, 1 or more
   * @param firstSegment oldest segment that is still needed
   * @param compactedIndex entries at or below it are covered by a snapshot
   * @param lastIndex last entry before this segment, or the compacted index
   * @param state hard state at this position
   */
  record SegmentStart(
      long number, long firstSegment, long compactedIndex, long lastIndex, HardState state)
      implements WalPayload {
    @Override
    public int type() {
      return TYPE_SEGMENT;
    }

    @Override
    public void encode(ByteSink sink) {
      sink.putVarint(number);
      sink.putVarint(firstSegment);
      sink.putVarint(compactedIndex);
      sink.putVarint(lastIndex);
      putState(sink, state);
    }

    private static SegmentStart decode(ByteSource in) {
      return new SegmentStart(
          in.getVarint(), in.getVarint(), in.getVarint(), in.getVarint(), getState(in));
    }
  }

  /**
   * One append.
   *
   * @param state new hard state, or null if it is unchanged
   * @param entries contiguous; each replaces everything that the log contained at its index and
   *     above
   */
  record Batch(@Nullable HardState state, List<Entry> entries) implements WalPayload {
    private static final int HAS_STATE = 1;

    @Override
    public int type() {
      return TYPE_BATCH;
    }

    @Override
    public void encode(ByteSink sink) {
      sink.putByte(state == null ? 0 : HAS_STATE);
      if (state != null) {
        putState(sink, state);
      }
      sink.putVarint(entries.size());
      if (!entries.isEmpty()) {
        sink.putVarint(entries.get(0).index());
      }
      for (Entry entry : entries) {
        sink.putVarint(entry.term());
        sink.putByte(entry.kind().code());
        sink.putVarint(entry.data().length());
        sink.putBytes(entry.data());
      }
    }

    private static Batch decode(ByteSource in) {
      int flags = in.getByte();
      if ((flags & ~HAS_STATE) != 0) {
        throw new IllegalArgumentException("unknown flags " + flags);
      }
      HardState state = flags == 0 ? null : getState(in);
      int count = in.getCount();
      long index = count == 0 ? 0 : in.getVarint();
      List<Entry> entries = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        long term = in.getVarint();
        Entry.Kind kind = Entry.Kind.ofCode(in.getByte());
        Bytes data = in.getBytes(in.getCount());
        entries.add(new Entry(term, index + i, kind, data));
      }
      return new Batch(state, entries);
    }
  }

  /**
   * A snapshot covers the start of the log.
   *
   * @param compactedIndex entries at or below it are covered
   * @param firstSegment oldest segment that is still needed; older ones may be removed
   * @param restart true if entries above the compacted index were removed too
   */
  record Compacted(long compactedIndex, long firstSegment, boolean restart) implements WalPayload {
    @Override
    public int type() {
      return TYPE_COMPACTED;
    }

    @Override
    public void encode(ByteSink sink) {
      sink.putVarint(compactedIndex);
      sink.putVarint(firstSegment);
      sink.putByte(restart ? 1 : 0);
    }

    private static Compacted decode(ByteSource in) {
      return new Compacted(in.getVarint(), in.getVarint(), in.getByte() == 1);
    }
  }

  /** The log was closed cleanly: every record before this one was forced. */
  record End() implements WalPayload {
    @Override
    public int type() {
      return TYPE_END;
    }

    @Override
    public void encode(ByteSink sink) {}
  }

  /**
   * Reads a payload.
   *
   * @throws IllegalArgumentException if it is invalid; its checksum was right, so it was written
   *     like this
   */
  static WalPayload decode(int type, Bytes payload) {
    ByteSource in = new ByteSource(payload);
    WalPayload decoded =
        switch (type) {
          case TYPE_SEGMENT -> SegmentStart.decode(in);
          case TYPE_BATCH -> Batch.decode(in);
          case TYPE_COMPACTED -> Compacted.decode(in);
          case TYPE_END -> new End();
          default -> throw new IllegalArgumentException("unknown record type " + type);
        };
    if (!in.atEnd()) {
      throw new IllegalArgumentException("bytes after the end of the record");
    }
    return decoded;
  }

  private static void putState(ByteSink sink, HardState state) {
    sink.putVarint(state.term());
    sink.putLong(state.vote().value());
    sink.putVarint(state.commit());
  }

  private static HardState getState(ByteSource in) {
    return new HardState(in.getVarint(), new NodeId(in.getLong()), in.getVarint());
  }
}
